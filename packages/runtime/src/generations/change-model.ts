/**
 * Changes the model of a server that runs: the tables, what is said about them and the migration that repeats it are
 * written in one transaction, which commits when what they come to compiles. Source: API specification, section 12.4.
 */
import { accessNames } from '../auth/access-of.ts';
import {
  type CompiledApi,
  createProjectLedgerSql,
  modelLock,
  projectMigrationsSql,
  recordMigrationSql,
} from '../contract/index.ts';
import type { Database, Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import type { KnownModel, ModelChange } from '../model/change.ts';
import { migrationOf } from '../model/migration-text.ts';
import { runSteps } from '../model/run-change.ts';
import { type ChangeOrigin, logChanges } from '../system/log-changes.ts';
import { logPlaceOf } from '../system/place.ts';
import { platformVersion } from '../version.ts';
import { allRows, firstRow } from '../write/own-rows.ts';
import { failedValidation } from '../write/problems.ts';
import { transactionNumber } from '../write/statement.ts';
import { modelChannel, modelStatements, type WatchedTables } from './model-sql.ts';
import type { Recompiler } from './recompile.ts';

/** Plans a change of what is known; may run again after a conflict. Throws what refuses the request. */
export type PlanChange = (known: KnownModel) => ModelChange;

/** What it works with. */
export interface ModelChangerOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly recompiler: Pick<Recompiler, 'schema' | 'migrationNames'>;
  readonly tables: () => WatchedTables;
  /** The API that says what the tables say. */
  readonly compiledIn: (transaction: Transaction, tables: WatchedTables) => Promise<CompiledApi>;
  /** Compiles what the transaction has made of the tables, and calls `read` as soon as it has read them. */
  readonly compileIn: (
    transaction: Transaction,
    tables: WatchedTables,
    read: () => Promise<void>,
  ) => Promise<Made | readonly string[]>;
  /** Serves it. */
  readonly serve: (made: Made) => Promise<void>;
}

/** What was compiled. */
export interface Made {
  readonly number: number;
  readonly api: CompiledApi;
}

/** Makes a change, and gives what is answered when new requests are answered by the next generation. */
export type ChangeModel = (plan: PlanChange, discard: boolean, origin: ChangeOrigin) => Promise<unknown>;

/** Makes the changer. */
export function createModelChanger(options: ModelChangerOptions): ChangeModel {
  const { database, recompiler, compiledIn, compileIn, serve } = options;

  async function change(transaction: Transaction, ...[plan, discard, origin]: Parameters<ChangeModel>) {
    const tables = options.tables();
    const { lock, tell } = modelStatements(tables.place);
    await allRows(transaction, lock, [modelLock]);
    const known = await compiledIn(transaction, tables);
    const { schema: systemSchema } = tables.place;
    const document = await describe(known);
    const planned = plan({ api: known, document, systemSchema, schema: recompiler.schema, discard });
    if (planned.steps.length === 0) return { answer: planned.answer(document), made: null };
    const [number] = (await firstRow(transaction, `SELECT ${transactionNumber}`, [])) ?? [];
    if (typeof number === 'string') transaction.identify(number);
    const write = async (): Promise<void> => {
      await runSteps(transaction, planned.steps);
      await keepTrace(transaction, known, planned, systemSchema, origin);
    };
    // Nobody can use a table that is changed until the end of the transaction, and compiling takes longer than changing:
    // what is compiled is undone meanwhile, which gives the tables free, and done again.
    await allRows(transaction, 'SAVEPOINT model_change', []);
    await write();
    const made = await compileIn(transaction, { ...tables, ledger: true }, async () => {
      await allRows(transaction, 'ROLLBACK TO SAVEPOINT model_change', []);
    });
    if (!('api' in made)) throw uncompiled(planned, made);
    const answer = planned.answer(await describe(made.api));
    if (answer === undefined) throw uncompiled(planned, ['The configuration leaves it out.']);
    await write();
    if (tell !== null) await allRows(transaction, tell, [modelChannel]);
    return { answer, made };
  }

  async function keepTrace(
    transaction: Transaction,
    known: CompiledApi,
    planned: ModelChange,
    schema: string,
    origin: ChangeOrigin,
  ): Promise<void> {
    await allRows(transaction, createProjectLedgerSql(schema), []);
    const applied = await allRows(transaction, projectMigrationsSql(schema), []);
    const names = applied.map(([name]) => name ?? '');
    const { name, checksum, script } = migrationOf(planned, [...names, ...(await recompiler.migrationNames())]);
    await allRows(transaction, recordMigrationSql(schema), [name, checksum, script, platformVersion()]);
    if (logPlaceOf(known) === null) return;
    const told = planned.told.map((one) => ({ ...one, revision: null, parent: null }));
    const { text, parameters } = logChanges(schema, origin, told);
    await allRows(transaction, text, parameters);
  }

  return async (...asked) => {
    const { place, model } = options.tables();
    if (place.dialect !== 'postgres') throw new PlatformError('UNPROCESSABLE_ENTITY', onlyPostgres);
    if (!model) throw new PlatformError('UNPROCESSABLE_ENTITY', uninstalled);
    const { answer, made } = await database.transaction(async (transaction) => ({
      value: await change(transaction, ...asked),
    }));
    if (made !== null) await serve(made);
    return answer;
  };
}

const onlyPostgres =
  'The model of a MySQL or MariaDB database is not changed by requests. Change the database, and generate the API again.';

const uninstalled =
  'The platform’s own tables cannot be read, and changes of the model are written there. Run `platform migrate`.';

function describe(api: CompiledApi) {
  return api.model(accessNames(api).admin);
}

/** Whoever wrote what does not compile is told why. */
function uncompiled({ told }: ModelChange, problems: readonly string[]): PlatformError {
  const place = { collection: told[0]?.collection ?? 'platform_collections', index: undefined };
  return failedValidation(place, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}
