import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { serviceManager } from '../process/service-manager.ts';
import { hasDatabase, loadSettings, type Settings } from '../project/settings.ts';
import type { Source } from '../sources/source.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import { printWelcome } from '../terminal/welcome.ts';
import type { StartOptions } from './options.ts';
import { reportDrift, serveOne } from './serve-api.ts';
import { startCluster, startWorker, workersOf } from './start-workers.ts';

/** `platform start`: serves the generated API. Resolves once it listens; signals end the process. */
export async function start(options: StartOptions): Promise<void> {
  const progress = processProgress(options);
  // The compiler is as much code as the server, so it is loaded only when needed.
  const compileFirst = options.generate === true || options.sample === true;
  const compilation = compileFirst ? await (await import('./compile-first.ts')).prepare(options, progress) : null;
  const project = compilation?.project ?? (await loadSettings(options.project));
  const workers = workersOf(options, project);
  if (options.recordExamples === true) checkRecording(workers);
  if (cluster.isWorker) return startWorker(project, options);
  const source = await (compilation === null ? beginEmbedded(project, progress) : compilation.compile());
  try {
    if (workers !== null) await startCluster(project, workers, progress);
    else await serveProject(project, source, options, progress);
  } catch (error) {
    // A connection that was handed on but not taken stays open, and would keep the process from ending.
    if (source?.embedded) await source.close().catch(() => undefined);
    throw error;
  }
}

/** The embedded database where it has to be made of the project's migrations first; else null. */
async function beginEmbedded(project: Settings, progress: Progress): Promise<Source | null> {
  if (hasDatabase(project) || !existsSync(join(project.folder, 'migrations'))) return null;
  const [{ connect }, { loadProject }] = await Promise.all([
    import('../sources/connect.ts'),
    import('../project/project.ts'),
  ]);
  return connect(await loadProject(project.folder, project.stateFolder), progress);
}

/**
 * Refuses recording in production, as it stores people's data, and with workers, as only one process can write the
 * file.
 */
function checkRecording(workers: number | null): void {
  if (workers !== null) {
    throw new CommandError(exitCodes.usage, '--record-examples and --workers exclude each other.');
  }
  if (process.env.NODE_ENV === 'production') {
    throw new CommandError(exitCodes.usage, '--record-examples is for development: NODE_ENV says production.');
  }
}

async function serveProject(
  project: Settings,
  source: Source | null,
  options: StartOptions,
  progress: Progress,
): Promise<void> {
  const manager = serviceManager(progress.print);
  const { server, api, token, administrator } = await serveOne(project, source, options, progress);
  reportDrift(server.drifts(), progress);
  const metrics = server.metricsUrl;
  progress.event('listening', { url: server.url, ...(metrics !== null && { metrics }) });
  if (metrics !== null) progress.print(`  metrics at ${metrics}/metrics`);
  manager.ready(server.url);
  printWelcome(
    { url: server.url, pages: server.pages, token, api, stateFolder: project.stateFolder, administrator },
    progress,
  );
}
