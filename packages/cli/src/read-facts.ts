/** Database → what a schema is resolved from. */
import { readFacts as readDatabase } from '@platform/introspect';
import { readModel } from './model-tables.ts';
import { readPermissionTables } from './permission-tables.ts';
import type { Progress } from './progress.ts';
import type { Project } from './project.ts';
import { connect, type Source } from './source.ts';
import { count, type Facts, readOptions } from './steps.ts';
import { systemDiagnostics } from './system.ts';

/** Reads the tables of the project's database. */
export async function readFacts(project: Project, progress: Progress, open?: Source): Promise<Facts> {
  const source = open ?? (await connect(project, progress));
  try {
    return await progress.phase('introspect', async (detail) => {
      const facts = await readDatabase(source.family, source.run, readOptions(project));
      detail(`${count(facts.tables.length, 'table')} from ${source.label}`);
      const diagnostics = [...facts.diagnostics, ...(await systemDiagnostics(source, project))];
      const model = await readModel(source, project);
      return { ...facts, model, diagnostics, permissions: await readPermissionTables(source, project) };
    });
  } finally {
    if (open === undefined) await source.close();
  }
}
