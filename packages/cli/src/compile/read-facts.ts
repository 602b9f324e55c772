/** Database → facts that a schema is resolved from. */
import {
  type ChangedRelations,
  type Reading,
  readModelTables,
  readTables,
  rereadTables,
} from '@tablewright/introspect';
import type { DeclaredModel } from '@tablewright/runtime/language';
import { ownTables } from '@tablewright/runtime/tools';
import type { Project } from '../project/project.ts';
import { connect } from '../sources/connect.ts';
import { readPermissionTables } from '../sources/permission-tables.ts';
import { migrationDiagnostics } from '../sources/project-migrations.ts';
import type { Source } from '../sources/source.ts';
import { systemDiagnostics, systemPlace } from '../sources/system.ts';
import { count } from '../terminal/format.ts';
import type { Progress } from '../terminal/progress.ts';
import { type Facts, readOptions } from './facts.ts';

/** Facts of a database that was read before, and the changes since. */
interface KnownTables {
  readonly reading: Reading;
  readonly changed: ChangedRelations;
}

/** Facts that can be read again in part. */
export interface ReadFacts extends Facts {
  readonly reading: Reading;
}

/** Reads the tables of the project's database; where they are known, those that changed. */
export async function readFacts(
  project: Project,
  progress: Progress,
  open?: Source,
  knownTables?: KnownTables,
): Promise<ReadFacts> {
  const source = open ?? (await connect(project, progress));
  try {
    return await progress.phase('introspect', async (detail) => {
      const reading = await readChanged(source, project, knownTables);
      const { facts } = reading;
      detail(`${count(facts.tables.length, 'table')} from ${source.label}`);
      const diagnostics = [
        ...facts.diagnostics,
        ...(await systemDiagnostics(source, project)),
        ...(await migrationDiagnostics(source, project)),
      ];
      const model = await readModel(source, project);
      return { ...facts, model, diagnostics, permissions: await readPermissionTables(source, project), reading };
    });
  } finally {
    if (open === undefined) await source.close();
  }
}

async function readChanged(source: Source, project: Project, knownTables: KnownTables | undefined): Promise<Reading> {
  const reread =
    knownTables === undefined ? null : await rereadTables(source.run, knownTables.reading, knownTables.changed);
  return reread ?? readTables(source.family, source.run, readOptions(project));
}

/** Reads it; null if the tables are empty, not installed or not readable. */
async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  const { model } = ownTables(systemPlace(source, project)).statements;
  const [[readable, ledger] = []] = await source.run(...model.readable);
  return readable === '1' ? readModelTables(await source.run(model.rows(ledger === '1'), [])) : null;
}
