/** Changes of the model on PostgreSQL: tables, descriptions and migration in one transaction, which must compile. */
import type { Transaction } from '../../../database/database.ts';
import { allRows, firstRow } from '../../../database/own-statements.ts';
import { type CompiledApi, modelChannel, modelLock } from '../../../language/index.ts';
import { explain, type ModelChange } from '../../../model/change.ts';
import {
  answerOf,
  type ChangeModel,
  describeModel,
  type ModelChanged,
  type ModelChangerOptions,
  unlessKept,
} from '../../../model/model-changer.ts';
import type { ModelStep } from '../../../model/model-sql.ts';
import { migrationOf, type RunTexts } from '../../../model/recompiler.ts';
import { type ChangeOrigin, logChanges } from '../../../system/log-changes.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { platformVersion } from '../../../version.ts';
import { transactionNumber } from '../../fragment.ts';
import {
  createProjectLedgerSql,
  postgresModel,
  projectMigrationsSql,
  recordMigrationSql,
} from '../own-tables/model.ts';
import { postgresModelSql } from './statements.ts';

export function createPostgresModelChange(
  options: ModelChangerOptions,
): (...requested: Parameters<ChangeModel>) => Promise<ModelChanged> {
  const { database, recompiler, compiledIn, compileIn } = options;

  async function change(transaction: Transaction, ...[plan, discard, origin]: Parameters<ChangeModel>) {
    const tables = options.tables();
    const { lock, announce } = postgresModel(tables.place.schema);
    await allRows(transaction, lock, [modelLock]);
    const run: RunTexts = (text, parameters) => allRows(transaction, text, parameters);
    const api = await compiledIn(run, tables);
    const { schema: systemSchema } = tables.place;
    const document = await describeModel(api);
    const { schema } = recompiler;
    const planned = plan({ api, document, systemSchema, schema, discard, sql: postgresModelSql });
    const idle = { answer: planned.respond(document), made: null };
    if (planned.isIdle || planned.steps.length === 0) return idle;
    const [number] = (await firstRow(transaction, `SELECT ${transactionNumber}`, [])) ?? [];
    if (typeof number === 'string') transaction.identify(number);
    const write = async (): Promise<void> => {
      await runSteps(transaction, planned.steps);
      await keepTrace(options, transaction, api, planned, systemSchema, origin);
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
    await allRows(transaction, announce, [modelChannel, options.sender]);
    return { answer: result.answer, made: result.made };
  }

  return (...requested) =>
    database.transaction(async (transaction) => ({
      value: await unlessKept(transaction, requested[3], () => change(transaction, ...requested)),
    }));
}

async function keepTrace(
  { recompiler }: ModelChangerOptions,
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

/** Time that a change waits for tables that are in use: later statements queue up after it. */
const lockTimeout = '5s';

const waitSql = "SELECT pg_catalog.set_config('lock_timeout', $1::pg_catalog.text, true)::pg_catalog.text";

async function runSteps(transaction: Transaction, steps: readonly ModelStep[]): Promise<void> {
  await allRows(transaction, waitSql, [lockTimeout]);
  for (const step of steps) await runStep(transaction, step).catch((error: unknown) => explain(error, step.place));
}

async function runStep(transaction: Transaction, step: ModelStep): Promise<void> {
  if (step.kind === 'run') return void (await allRows(transaction, step.sql, []));
  if (step.kind !== 'check') throw new Error(`A step of another kind than PostgreSQL's: ${step.kind}.`);
  const [fits] = (await firstRow(transaction, `SELECT (${step.sql})::pg_catalog.int4::pg_catalog.text`, [])) ?? [];
  if (fits !== '1') throw step.refusal;
}
