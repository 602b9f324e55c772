import { readdirSync, readFileSync } from 'node:fs';

interface Entry {
  readonly text: string;
  readonly link: string;
}

interface Group {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: (Entry | Group)[];
}

const docs = new URL('../', import.meta.url);

/** An entry with the title of its page. */
function page(path: string): Entry {
  const text = readFileSync(new URL(`${path}.md`, docs), 'utf8');
  const [, title] = /^# (.*)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`docs/${path}.md has no title.`);
  return { text: title.replaceAll('`', ''), link: `/${path}` };
}

function group(text: string, ...paths: readonly string[]): Group {
  return { text, items: paths.map(page) };
}

function decisions(): Group {
  const files = readdirSync(new URL('decisions', docs)).filter((name) => name.endsWith('.md'));
  const items = files.toSorted().map((name) => page(`decisions/${name.slice(0, -3)}`));
  return { text: 'Decisions', collapsed: true, items };
}

/** Every page, in the order in which a newcomer needs them. */
export const sidebar: Group[] = [
  group(
    'Reference',
    ...['commands', 'environment', 'errors', 'configuration', 'changes'].map((name) => `reference/${name}`),
  ),
  decisions(),
];
