import { existsSync, readdirSync, readFileSync } from 'node:fs';

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

/** Entries of the pages that there are. */
function topic(text: string, paths: readonly string[]): Group {
  return { text, items: paths.filter((path) => existsSync(new URL(`${path}.md`, docs))).map(page) };
}

/** A topic of which only the heading is shown at first. */
function folded(text: string, paths: readonly string[]): Group {
  return { ...topic(text, paths), collapsed: true };
}

function decisions(): readonly string[] {
  const files = readdirSync(new URL('decisions', docs)).filter((name) => name.endsWith('.md'));
  return files.toSorted().map((name) => `decisions/${name.slice(0, -3)}`);
}

/** Every page, in the order in which a newcomer needs them. */
export const sidebar: Group[] = [
  topic('Quickstart', ['quickstart/embedded', 'quickstart/existing-database', 'quickstart/frontend']),
  {
    text: 'Guides',
    items: [
      folded('Permissions', ['permissions', 'tenants', 'row-security', 'explaining']),
      folded('Accounts', ['auth', 'accounts', 'single-sign-on', 'pages']),
      folded('Files and resources', ['files', 'resources']),
      folded('Reading', [
        'query',
        'filters',
        'geometry',
        'vectors',
        'composite-types',
        'query-limits',
        'aggregation',
        'export',
      ]),
      folded('Writing', ['writes', 'refused-writes', 'soft-delete', 'history']),
      folded('GraphQL and OpenAPI', ['graphql', 'graphql-schema', 'graphql-connections', 'openapi']),
      folded('Clients', ['clients', 'client-packages']),
      folded('Extensions', ['extensions', 'functions']),
      folded('The model', ['configuration', 'model', 'migrations']),
      folded('Databases', ['databases', 'mysql', 'mysql-writes', 'system-tables']),
      folded('Development and pipelines', ['development', 'cli', 'diff', 'pipelines']),
      folded('Deployment and upgrades', [
        'deployment',
        'operations',
        'scale',
        'clusters',
        'caches',
        'observability',
        'metrics',
        'traces',
        'limits',
        'upgrades',
      ]),
      folded('Runbooks', [
        'runbooks/index',
        'runbooks/back-up-and-restore',
        'runbooks/upgrade-without-a-gap',
        'runbooks/one-step-back',
        'runbooks/database-fails-over',
        'runbooks/pool-exhausted',
        'runbooks/slow-server',
        'runbooks/disk-full',
        'runbooks/leaked-token',
        'runbooks/rotate-secret',
        'runbooks/lost-administrator',
        'runbooks/erase-a-person',
      ]),
      folded('Coming from', ['coming-from/directus', 'coming-from/hasura', 'coming-from/postgrest']),
    ],
  },
  topic('Reference', [
    'reference/commands',
    'reference/environment',
    'reference/errors',
    'reference/operations',
    'reference/configuration',
    'reference/changes',
    'dependencies',
  ]),
  folded('Decisions', decisions()),
];
