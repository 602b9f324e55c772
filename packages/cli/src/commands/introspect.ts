import { relative } from 'node:path';
import { introspectProject, loadReplaced } from '../compile/steps.ts';
import { loadProject } from '../project/project.ts';
import { count } from '../terminal/format.ts';
import { processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

/** `platform introspect`: reads the database into platform.schema.json, so that others can compile without it. */
export async function introspect(options: GlobalOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const schema = await introspectProject(project, progress, await loadReplaced(project, progress));
  const file = relative(process.cwd(), project.schemaFile);
  progress.event('summary', { tables: schema.tables.length, file, phases: progress.phases });
  progress.print(`${count(schema.tables.length, 'table')} in ${file}.`);
}
