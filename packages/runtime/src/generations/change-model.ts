/**
 * Changes the model of a server that runs: the tables, what is said about them and the migration that repeats it are
 * written in one transaction, which commits when what they come to compiles. On MySQL and MariaDB, which commit every
 * statement that changes a table: `dialects/mysql/ddl/change-model.ts`. Source: API specification, section 12.4.
 */

import type { Transaction } from '../database/database.ts';
import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import { createMysqlModelChange } from '../dialects/mysql/ddl/change-model.ts';
import { postgresModelSql } from '../dialects/postgres/ddl/statements.ts';
import { PlatformError } from '../errors.ts';
import {
  type CompiledApi,
  createProjectLedgerSql,
  modelLock,
  projectMigrationsSql,
  recordMigrationSql,
} from '../language/index.ts';
import type { ModelChange } from '../model/change.ts';
import { migrationOf } from '../model/migration-text.ts';
import { answerOf, type ChangeModel, describeModel, type ModelChangerOptions } from '../model/model-changer.ts';
import type { RunTexts } from '../model/recompiler.ts';
import { runSteps } from '../model/run-change.ts';
import { type ChangeOrigin, logChanges } from '../system/log-changes.ts';
import { logPlaceOf } from '../system/place.ts';
import { platformVersion } from '../version.ts';
import { modelChannel, modelStatements } from './model-sql.ts';

/** Makes the changer. */
export function createModelChanger(options: ModelChangerOptions): ChangeModel {
  const { database, recompiler, compiledIn, compileIn, serve } = options;

  async function change(transaction: Transaction, ...[plan, discard, origin]: Parameters<ChangeModel>) {
    const tables = options.tables();
    const { lock, notify: report } = modelStatements(tables.place);
    await allRows(transaction, lock, [modelLock]);
    const run: RunTexts = (text, parameters) => allRows(transaction, text, parameters);
    const api = await compiledIn(run, tables);
    const { schema: systemSchema } = tables.place;
    const document = await describeModel(api);
    const { schema } = recompiler;
    const planned = plan({ api, document, systemSchema, schema, discard, sql: postgresModelSql });
    if (planned.steps.length === 0) return { answer: planned.respond(document), made: null };
    const [number] = (await firstRow(transaction, `SELECT ${transactionNumber}`, [])) ?? [];
    if (typeof number === 'string') transaction.identify(number);
    const write = async (): Promise<void> => {
      await runSteps(transaction, planned.steps);
      await keepTrace(transaction, api, planned, systemSchema, origin);
    };
    // A changed table is locked until the end of the transaction, and compiling takes longer than changing. So the
    // change is undone while it is compiled, which frees the tables, and then done again.
    await allRows(transaction, 'SAVEPOINT model_change', []);
    await write();
    const made = await compileIn(
      run,
      { ...tables, ledger: true },
      {
        async read() {
          await allRows(transaction, 'ROLLBACK TO SAVEPOINT model_change', []);
        },
      },
    );
    const result = await answerOf(planned, made);
    await write();
    if (report !== null) await allRows(transaction, report, [modelChannel]);
    return { answer: result.answer, made: result.made };
  }

  async function keepTrace(
    transaction: Transaction,
    api: CompiledApi,
    planned: ModelChange,
    schema: string,
    origin: ChangeOrigin,
  ): Promise<void> {
    await allRows(transaction, createProjectLedgerSql(schema), []);
    const applied = await allRows(transaction, projectMigrationsSql(schema), []);
    const names = applied.map(([name]) => name ?? '');
    const statements = planned.steps.flatMap((step) => (step.kind === 'run' ? [step.sql] : []));
    const others = [...names, ...(await recompiler.migrationNames())];
    const { name, checksum, script: sql } = migrationOf(planned.title, statements, others);
    await allRows(transaction, recordMigrationSql(schema), [name, checksum, sql, platformVersion()]);
    if (logPlaceOf(api) === null) return;
    const entries = planned.activity.map((entry) => ({ ...entry, revision: null, parent: null }));
    const { text, parameters } = logChanges(schema, origin, entries);
    await allRows(transaction, text, parameters);
  }

  const changeMysql = createMysqlModelChange(options);

  return async (...requested) => {
    const { place: location, model } = options.tables();
    if (!model) throw new PlatformError('UNPROCESSABLE_ENTITY', uninstalled);
    const { answer: response, made } =
      location.dialect === 'postgres'
        ? await database.transaction(async (transaction) => ({ value: await change(transaction, ...requested) }))
        : await changeMysql(...requested);
    if (made !== null) await serve(made);
    return response;
  };
}

const uninstalled =
  'The platform’s own tables cannot be read, and changes of the model are written there. Run `platform migrate`.';
