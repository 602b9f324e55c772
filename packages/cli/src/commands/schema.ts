import { relative } from 'node:path';
import { compareFacts } from '@tablewright/introspect';
import { introspectProject, loadReplaced } from '../compile/steps.ts';
import { loadProject } from '../project/project.ts';
import { count } from '../terminal/format.ts';
import { processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface SchemaPullOptions extends GlobalOptions {
  /** The database to read in place of the project's own. */
  readonly from?: string;
}

/** `platform schema pull`: takes the schema of a database into platform.schema.json, and lists its news. */
export async function pullSchema({ from, ...options }: SchemaPullOptions): Promise<void> {
  const progress = processProgress(options);
  const configured = await loadProject(options.project);
  const project = from === undefined ? configured : { ...configured, databaseUrl: from };
  const previous = await loadReplaced(project, progress);
  const schema = await introspectProject(project, progress, previous);
  const differences = previous === null ? [] : compareFacts(previous, schema);
  for (const difference of differences) {
    progress.event('difference', { ...difference });
    progress.print(`  ${difference.object}: ${difference.message}`);
  }
  const file = relative(process.cwd(), project.schemaFile);
  progress.event('summary', { tables: schema.tables.length, differences: differences.length, file });
  const news =
    previous === null ? 'new' : differences.length === 0 ? 'as before' : count(differences.length, 'difference');
  progress.print(`${count(schema.tables.length, 'table')} in ${file}, ${news}.`);
}

/** `platform introspect`: reads the database into platform.schema.json, so that others can compile without it. */
export async function introspect(options: GlobalOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const schema = await introspectProject(project, progress, await loadReplaced(project, progress));
  const file = relative(process.cwd(), project.schemaFile);
  progress.event('summary', { tables: schema.tables.length, file, phases: progress.phases });
  progress.print(`${count(schema.tables.length, 'table')} in ${file}.`);
}
