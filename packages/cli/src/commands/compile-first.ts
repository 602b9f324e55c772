/** `platform start --generate` and `--sample`: compiles the API before serving it. */
import { generateProject } from '../compile/compile-project.ts';
import { printSummary } from '../compile/steps.ts';
import { loadProject, type Project } from '../project/project.ts';
import { databaseUrl } from '../project/settings.ts';
import { connect } from '../sources/connect.ts';
import { loadSample, sampleProject } from '../sources/sample.ts';
import type { Source } from '../sources/source.ts';
import { installSystem } from '../sources/system.ts';
import type { Progress } from '../terminal/progress.ts';
import type { StartOptions } from './options.ts';

/** A compilation that is about to begin. */
interface Compilation {
  readonly project: Project;
  /** Compiles. Resolves to the database, which stays open where it is embedded. */
  compile(): Promise<Source>;
}

/** Reads the project that is meant, which is the sample where it is asked for. */
export async function prepare(options: StartOptions, progress: Progress): Promise<Compilation> {
  const sample = options.sample === true;
  const project = sample ? await sampleProject() : await loadProject(options.project);
  return {
    project,
    async compile() {
      const source = await connect(project, progress);
      await compileFrom(source, project, progress, sample);
      return source;
    },
  };
}

async function compileFrom(source: Source, project: Project, progress: Progress, sample: boolean): Promise<void> {
  try {
    if (sample && databaseUrl(project) === null) {
      await loadSample(source, progress);
      // The sample's database is ours; the tables come into any other database by `platform init` or `migrate` only.
      await installSystem(source, project, progress);
    }
    const result = await generateProject(project, progress, { source });
    printSummary(project, result, progress);
  } catch (error) {
    // An open connection would keep the process from ending.
    await source.close();
    throw error;
  }
  // The server opens its own connections; an embedded database stays open and is handed on.
  if (source.embedded === null) await source.close();
}
