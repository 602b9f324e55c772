/**
 * Executes the commands of a Dockerfile in folders, one for each stage, as the machine's ordinary user: what a container
 * engine does but for the base image, the switch of the user and the isolation.
 */
import { cpSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine, Variables } from './machine.ts';

/** What the last stage came to. */
export interface Image {
  /** Root of its file system. */
  readonly root: string;
  /** Folder that the server is started in, as the image names it. */
  readonly folder: string;
  readonly variables: Variables;
  readonly user: string;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

interface Stage extends Image {
  readonly name: string;
}

/** Builds the image of a project, with `context` as the folder of its Dockerfile. */
export async function buildImage(machine: Machine, context: string): Promise<Image> {
  const stages: Stage[] = [];
  for (const [word, rest] of instructionsOf(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    if (word === 'FROM') {
      const [, name = ''] = / AS (\S+)$/.exec(rest) ?? [];
      stages.push({ ...empty, name, root: machine.makeFolder(`image/${stages.length}`) });
      continue;
    }
    const stage = stages.pop();
    if (stage === undefined) throw new Error(`"${word}" comes before FROM.`);
    stages.push(await execute(machine, context, stages, stage, word, rest));
  }
  const last = stages.at(-1);
  if (last === undefined) throw new Error('There is no stage.');
  return last;
}

const empty = { folder: '/', variables: {}, user: 'root', command: [], healthCheck: [] };

async function execute(
  machine: Machine,
  context: string,
  stages: readonly Stage[],
  stage: Stage,
  word: string,
  rest: string,
): Promise<Stage> {
  const inRoot = (path: string): string => join(stage.root, path.startsWith('/') ? path : join(stage.folder, path));
  switch (word) {
    case 'WORKDIR':
      machine.makeFolder(inRoot(rest).slice(machine.folder.length + 1));
      return { ...stage, folder: rest };
    case 'RUN':
      await machine.succeed(inRoot('.'), ['sh', '-c', rest]);
      return stage;
    case 'COPY':
      copy(context, stages, rest, inRoot);
      machine.own(stage.root);
      return stage;
    case 'ENV':
      return { ...stage, variables: { ...stage.variables, ...Object.fromEntries(rest.split(' ').map(pairOf)) } };
    case 'USER':
      return { ...stage, user: rest };
    case 'CMD':
      return { ...stage, command: JSON.parse(rest) };
    case 'HEALTHCHECK':
      return { ...stage, healthCheck: JSON.parse(rest.slice(rest.indexOf('[')).trim()) };
    case 'EXPOSE':
      return stage;
    default:
      throw new Error(`The test knows no "${word}".`);
  }
}

/** Instructions with their arguments, comments left out and continued lines joined. */
function instructionsOf(text: string): readonly (readonly [word: string, rest: string])[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, '')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return [word, rest.trim()];
    });
}

function copy(context: string, stages: readonly Stage[], rest: string, inRoot: (path: string) => string): void {
  const words = rest.split(' ');
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.pop() ?? '';
  const source = from === undefined ? context : (stages.find(({ name }) => name === from)?.root ?? '');
  for (const path of paths.flatMap((pattern) => globSync(pattern.replace(/^\//, ''), { cwd: source }))) {
    const into = target.endsWith('/') ? join(target, path.split('/').at(-1) ?? '') : target;
    cpSync(join(source, path), inRoot(into), { recursive: true, verbatimSymlinks: true });
  }
}

function pairOf(text: string): readonly [string, string] {
  const [name = '', value = ''] = text.split('=');
  return [name, value];
}
