/** Sides of `platform diff`: a revision of git, a file, the live database, or the project as it is. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { type ListedExtensions, type ListedOperation, listedFile } from '@tablewright/compiler';
import { type Diagnostic, parseSchema } from '@tablewright/introspect';
import { loadSchema, type Resolution, report, resolveSources } from '../compile/steps.ts';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { currentFacts } from '../explain/role.ts';
import type { Project } from '../project/project.ts';
import { connectPresent } from '../sources/connect.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** Stands for the files as they are now: `platform.schema.json` under the configuration and rules beside it. */
export const workingTree = 'work';

/** Stands for the live database under the configuration and rules as they are now. */
const liveDatabase = 'database';

/**
 * The schema that a name stands for, with the diagnostics that keep it from being compiled: it can be compared all the
 * same. Rejects with advice when there is none.
 *
 * A file and a revision hold roles and rules as they were compiled, so nothing else of that time is needed.
 */
export async function schemaAt(name: string, project: Project, progress: Progress): Promise<Resolution> {
  if (name === workingTree) return resolveCurrent(project, progress);
  if (name === liveDatabase) {
    const source = await connectPresent(project, progress);
    return resolveCurrent(project, progress, source).finally(() => source.close());
  }
  if (isSchemaFile(name)) return parsed(await readFile(resolve(name), 'utf8'), name);
  return parsed(await readRevision(name, project), `${name}:platform.schema.json`);
}

/** True if a name is that of a file, and not of a revision. */
function isSchemaFile(name: string): boolean {
  return name.endsWith('.json') && statSync(resolve(name), { throwIfNoEntry: false })?.isFile() === true;
}

/** Rejects if a source cannot be read as a whole: a part that is missing in it would look removed. */
async function resolveCurrent(project: Project, progress: Progress, source?: Source): Promise<Resolution> {
  const facts = await currentFacts(project, progress, source);
  const previous = facts.previous ?? (await loadSchema(project));
  const { resolution, sources } = await progress.phase('resolve', () => resolveSources(project, facts, previous));
  const isError = ({ severity }: Diagnostic): boolean => severity === 'error';
  report([...sources, ...resolution.diagnostics.filter((diagnostic) => !isError(diagnostic))], progress);
  return { ...resolution, diagnostics: resolution.diagnostics.filter(isError) };
}

function parsed(text: string, source: string): Resolution {
  const found = parseSchema(text);
  if ('schema' in found) return { schema: found.schema, diagnostics: [] };
  throw new CommandError(exitCodes.invalid, `${source}: ${found.diagnostic.message}`, found.diagnostic.hint);
}

async function readRevision(revision: string, project: Project): Promise<string> {
  const none = `"${revision}" is neither a file nor a revision that has platform.schema.json.`;
  const hint = 'Name a file that ends with .json, a revision such as HEAD or origin/main, `database`, or `work`.';
  return readRevisionFile(revision, 'platform.schema.json', project).catch(() => {
    throw new CommandError(exitCodes.usage, none, hint);
  });
}

/** Listed parts; null if they are not known. */
interface ListedOutput {
  readonly operations: readonly ListedOperation[] | null;
  readonly extensions: ListedExtensions | null;
}

/** Null for the file of a schema, and where the generated files are not there, or not under version control. */
export async function outputAt(name: string, project: Project): Promise<ListedOutput> {
  const isHere = name === workingTree || name === liveDatabase;
  if (!isHere && isSchemaFile(name)) return { operations: null, extensions: null };
  const output = relative(project.folder, project.output).split(sep).join('/');
  const read = (file: string): Promise<string | null> =>
    isHere
      ? readFile(join(project.output, file), 'utf8').catch(() => null)
      : readRevisionFile(name, `${output}/${file}`, project).catch(() => null);
  const manifest = await read('manifest.json');
  const [operations, extensions] = [await read('graphql/operations.json'), await read(listedFile)];
  // Before they were listed, extensions left nothing but code.
  const unlisted = manifest === null || manifest.includes('"extensions.ts"');
  return {
    operations: operations === null ? (manifest === null ? null : []) : JSON.parse(operations),
    extensions: extensions === null ? (unlisted ? null : { routes: [], hooks: [] }) : JSON.parse(extensions),
  };
}

const run = promisify(execFile);

/** The text of a file of the project's folder in a revision of git. Rejects where there is none. */
async function readRevisionFile(revision: string, path: string, { folder }: Project): Promise<string> {
  // It would be an option.
  if (revision.startsWith('-')) throw new Error(`"${revision}" is no revision.`);
  const options = { cwd: folder, maxBuffer: 1 << 30 };
  const { stdout } = await run('git', ['show', `${revision}:./${path}`], options);
  return stdout;
}

/** The project's folder from the root of its repository, with a `/` at the end; empty at the root, and where there is none. */
export async function folderInRepository({ folder }: Project): Promise<string> {
  const found = await run('git', ['rev-parse', '--show-prefix'], { cwd: folder }).catch(() => null);
  return found === null ? '' : found.stdout.replace(/\n$/, '');
}
