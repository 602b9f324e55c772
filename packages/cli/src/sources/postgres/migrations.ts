/** Migrations of a project on PostgreSQL: one transaction each. */
import { modelLock } from '@tablewright/runtime/language';
import { createProjectLedgerSql, recordMigrationSql } from '@tablewright/runtime/postgres';
import { ownTables, type ProjectMigration, platformVersion } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../../errors/exit-codes.ts';
import { reasonOf } from '../../errors/reason-of.ts';
import { runOwn, type Source } from '../source.ts';

/** Applies one under the lock of the model; false if another process has done so meanwhile. */
export async function applyPostgresMigration(
  source: Source,
  schema: string,
  { name, checksum, script: sql }: ProjectMigration,
): Promise<boolean> {
  await source.script('BEGIN');
  const { turn, statements } = ownTables({ schema, dialect: source.dialect });
  try {
    await runOwn(source, turn(), [modelLock]);
    await source.script(createProjectLedgerSql(schema));
    const applied = await source.run(statements.model.migrations, []);
    const isNew = applied.every(([appliedName]) => appliedName !== name);
    if (isNew) {
      await source.script(sql);
      await source.run(recordMigrationSql(schema), [name, checksum, sql, platformVersion()]);
    }
    await source.script('COMMIT');
    return isNew;
  } catch (error) {
    await source.script('ROLLBACK').catch(() => undefined);
    throw new CommandError(
      exitCodes.database,
      `The migration ${name} cannot be applied: ${reasonOf(error)}. Nothing of it stays.`,
      'Correct what is in its way, and run `platform migrate` again.',
    );
  }
}
