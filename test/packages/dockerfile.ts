/**
 * Executes the commands of a Dockerfile in folders, one for each stage, as the machine's ordinary user: what a container
 * engine does but for the base image, the switch of the user and the isolation.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Identity, isRoot, type Machine, type Variables } from './machine.ts';

/** Result of the last stage. */
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
      if (!existsSync(inRoot(rest))) machine.makeFolder(inRoot(rest).slice(machine.folder.length + 1));
      return { ...stage, folder: rest };
    case 'RUN':
      await machine.succeed(inRoot('.'), ['sh', '-c', rest]);
      return stage;
    case 'COPY':
      for (const path of copy(context, stages, rest, inRoot)) machine.own(path, ownerOf(rest));
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

/** Copies what an instruction names, and gives the paths that it came to. */
function copy(
  context: string,
  stages: readonly Stage[],
  rest: string,
  inRoot: (path: string) => string,
): readonly string[] {
  const words = rest.split(' ');
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.pop() ?? '';
  const source = from === undefined ? context : (stages.find(({ name }) => name === from)?.root ?? '');
  return paths
    .flatMap((pattern) => globSync(pattern.replace(/^\//, ''), { cwd: source }))
    .map((path) => {
      const into = inRoot(target.endsWith('/') ? join(target, path.split('/').at(-1) ?? '') : target);
      cpSync(join(source, path), into, { recursive: true, verbatimSymlinks: true });
      return into;
    });
}

/** The user that an instruction gives its files to; undefined where it names none. */
function ownerOf(rest: string): Identity | undefined {
  const [, uid, gid] = /--chown=(\d+):(\d+)/.exec(rest) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/**
 * The command of an image in front of which root puts the settings of compose.yaml: its user without capabilities, a
 * read-only file system but for the volume and for temporary files.
 */
export function confined({ root, user }: Image, volume: string, command: readonly string[]): readonly string[] {
  const [uid = '', gid = ''] = user.split(':');
  const script = `
mount --make-rprivate /
mount --bind '${root}' '${root}'
mount --bind '${volume}' '${volume}'
mount -t tmpfs tmpfs "$TMPDIR"
mount -o remount,bind,ro '${root}'
mount -o remount,bind,ro /
cd "$PWD"
exec setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`;
  return ['unshare', '--mount', 'sh', '-euc', script, 'sh', ...command];
}

/** True where root may make a file system of its own for a process. */
export function canConfine(): boolean {
  return isRoot && spawnSync('unshare', ['--mount', 'mount', '--make-rprivate', '/']).status === 0;
}

function pairOf(text: string): readonly [string, string] {
  const [name = '', value = ''] = text.split('=');
  return [name, value];
}
