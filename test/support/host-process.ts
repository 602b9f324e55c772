/**
 * A process of its own that compiles and serves projects by the library, one beside the other, as it is told by messages
 * of its parent. All but the first project find every module loaded and warm, which makes them cost a fraction of a
 * process of their own. Ends when its parent does. Started by host.ts; not meant to be imported.
 */
import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CompiledApi, type RunningServer, serve } from '@tablewright/runtime';
import type { Variables } from '@tablewright/runtime/tools';
import { CommandError, createProgress, generateProject, loadProject, type Project } from 'tablewright';

/** What the parent asks for. Every request is answered once, by its number. */
export type HostRequest =
  | {
      readonly kind: 'start';
      readonly number: number;
      readonly folder: string;
      readonly databaseUrl: string;
      /** All that the server reads from its environment. */
      readonly variables: Variables;
      /** Compiles the project first. */
      readonly generate: boolean;
    }
  | {
      readonly kind: 'generate';
      readonly number: number;
      readonly folder: string;
      readonly databaseUrl: string;
    }
  | { readonly kind: 'stop'; readonly number: number /** The request that started it. */; readonly server: number };

/** What is answered: the address of a server that started, nothing for one that stopped, or why it did not work. */
export interface HostAnswer {
  readonly number: number;
  readonly url?: string;
  readonly error?: string;
}

const running = new Map<number, RunningServer>();

let isFlushed = false;

/** The project over a database; a change is the number of the request for which its files are read again. */
async function projectOver(databaseUrl: string, folder: string, change?: number): Promise<Project> {
  const found = await loadProject(folder, undefined, change);
  return { ...found, config: { ...found.config, database: { ...found.config.database, url: databaseUrl } } };
}

async function start({ folder, databaseUrl, variables, generate }: HostRequest & { kind: 'start' }) {
  const project = await projectOver(databaseUrl, folder);
  // Read with each password, so that it holds for this server: those of test files before are closed.
  process.env.TEST_PASSWORD_MEMORY = variables.TEST_PASSWORD_MEMORY;
  if (generate) await generateProject(project, progress);
  const module: { readonly api: CompiledApi } = await import(pathToFileURL(join(project.output, 'server.js')).href);
  // Processes that start later load what is compiled by now; projects that come here later add nothing of worth to them.
  if (!isFlushed) flushCompileCache();
  isFlushed = true;
  return serve(module.api, { variables, database: { url: databaseUrl }, signals: false, ...foldersOf(project) });
}

/** As the command has them. */
function foldersOf({ folder, stateFolder, config }: Project) {
  const templates = (kind: string): string | null => {
    const path = config.templates === undefined ? null : join(folder, config.templates, kind);
    return path !== null && existsSync(path) ? path : null;
  };
  return {
    mail: { folder: join(stateFolder, 'mail'), templates: templates('mail') },
    pages: templates('pages'),
    uploads: join(stateFolder, 'uploads'),
  };
}

/** What `--json` prints goes to the log, too. */
const progress = createProgress({
  json: true,
  notes: false,
  terminal: false,
  write: (text) => void process.stderr.write(text),
  writeEvent: (text) => void process.stdout.write(text),
});

async function obey(request: HostRequest): Promise<HostAnswer> {
  const { number } = request;
  if (request.kind === 'generate') {
    await generateProject(await projectOver(request.databaseUrl, request.folder, number), progress);
    return { number };
  }
  if (request.kind === 'stop') {
    await running.get(request.server)?.close();
    running.delete(request.server);
    return { number };
  }
  const server = await start(request);
  running.set(number, server);
  return { number, url: server.url };
}

function described(error: unknown): string {
  if (error instanceof CommandError) return `${error.message}\n${error.hint ?? ''}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

process.on('message', (request: HostRequest) => {
  obey(request)
    .catch((error: unknown): HostAnswer => ({ number: request.number, error: described(error) }))
    .then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
