import type { Database, Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { failedValidation } from '../json/problems.ts';
import { accessNames } from '../language/descriptors/access-names.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import type { ChangeOrigin } from '../system/log-changes.ts';
import type { SystemPlace } from '../system/place.ts';
import type { ModelChange } from './change.ts';
import type { KnownModel } from './model-sql.ts';
import type { ModelRows, RecompileOptions, Recompiler, RunTexts } from './recompiler.ts';

export type ModelCollection = 'platform_permissions' | 'platform_roles';

/** Handles writes to these collections. */
export interface ModelChanges {
  /** Reason why a collection cannot be written, as the message of UNPROCESSABLE_ENTITY; null where it can. */
  refusalOf(collection: ModelCollection): string | null;
  /** Waits for others who are changing the model; called before anything is written. */
  begin(transaction: Transaction): Promise<void>;
  /** Compiles the rows that the transaction has written by now. Throws FAILED_VALIDATION if they do not compile. */
  compile(transaction: Transaction, collection: ModelCollection): Promise<void>;
  /** Serves the compiled API after the commit; resolves when requests meet it. Undefined if nothing was compiled. */
  committed(transaction: Transaction): Promise<void> | undefined;
  /** Changes collections, fields and relations. Rejects with UNPROCESSABLE_ENTITY where they stay as they were compiled. */
  readonly changeModel: ChangeModel;
}

/** For a server with a fixed API: users may change roles, permissions of roles may not change. */
export const compiledModel: ModelChanges = {
  refusalOf: (collection) =>
    collection === 'platform_roles'
      ? null
      : 'The API is compiled with its permissions. Change them where it is generated, generate it again, and deploy it.',
  async begin() {},
  async compile() {},
  committed: () => undefined,
  async changeModel() {
    throw new PlatformError('UNPROCESSABLE_ENTITY', compiledTables);
  },
};

const compiledTables =
  'The API is compiled. Change the database or platform.config.ts, run `platform generate`, and start the server again.';

/** For a server that serves only a reviewed API. */
export const frozenModel: ModelChanges = {
  ...compiledModel,
  refusalOf: () =>
    'The server is frozen: it serves what was compiled. Change roles and permissions where it is generated, generate it again, and deploy it.',
  async changeModel() {
    throw new PlatformError('UNPROCESSABLE_ENTITY', `The server is frozen. ${compiledTables}`);
  },
};

export interface WatchedTables {
  readonly place: SystemPlace;
  /** True if roles and rules are compiled from the tables. */
  readonly permissions: boolean;
  /** True if the metadata of the model can be read, and likewise the ledger of migrations. */
  readonly model: boolean;
  readonly ledger: boolean;
}

/** Plans a change of what is known; may run again after a conflict. Throws what refuses the request. */
export type PlanChange = (model: KnownModel) => ModelChange;

export interface ModelChangerOptions {
  readonly database: Pick<Database, 'transaction' | 'schemaSession'>;
  readonly recompiler: Pick<Recompiler, 'schema' | 'migrationNames'>;
  readonly tables: () => WatchedTables;
  readonly compiledIn: (run: RunTexts, tables: WatchedTables) => Promise<CompiledApi>;
  /** Compiles what has been made of the tables; the options' `read` is called as soon as they have been read. */
  readonly compileIn: (run: RunTexts, tables: WatchedTables, options: CompileOptions) => Promise<Made | Problems>;
  readonly serve: (made: Made) => Promise<void>;
  /** Name of this process in notices of changes. */
  readonly sender: string;
  readonly log: Pick<Log, 'warn'>;
}

/** Reason why there is no next generation. */
export type Problems = readonly string[];

export interface CompileOptions extends Pick<RecompileOptions, 'drafts'> {
  readonly read: () => Promise<void>;
  /** An earlier compilation: its rows are compiled again, where the tables differ from those of that compilation. */
  readonly unless?: Made;
}

/** Result of a compilation. */
export interface Made {
  readonly number: number;
  readonly api: CompiledApi;
  /** Rows that it was compiled of, beside the tables. */
  readonly rows: ModelRows;
}

/** Result of a change: the answer, and the API to serve; null where nothing was to be done. */
export interface ModelChanged {
  readonly answer: unknown;
  readonly made: Made | null;
}

/**
 * Makes a change, and gives what is answered when new requests are answered by the next generation. With `once`, an answer
 * that is kept already is given in its place.
 */
export type ChangeModel = (
  plan: PlanChange,
  discard: boolean,
  origin: ChangeOrigin,
  once?: KeptOnce,
) => Promise<unknown>;

/** The key of a request, in the transaction of its change. */
export interface KeptOnce {
  /** Takes the key, or gives the answer that is kept under it. */
  claim(transaction: Transaction): Promise<{ readonly answer: unknown } | null>;
  keep(transaction: Transaction, response: unknown): void;
}

/** Runs a change in a transaction, unless its answer is kept. */
export async function unlessKept<Changed extends ModelChanged | null>(
  transaction: Transaction,
  once: KeptOnce | undefined,
  change: () => Promise<Changed>,
): Promise<Changed | ModelChanged> {
  const kept = await once?.claim(transaction);
  if (kept) return { answer: kept.answer, made: null };
  const changed = await change();
  if (changed !== null) once?.keep(transaction, changed.answer);
  return changed;
}

/** The model as administrators see it. */
export function describeModel(api: CompiledApi): ReturnType<CompiledApi['model']> {
  return api.model(accessNames(api).admin);
}

function uncompiled({ activity: entries }: ModelChange, problems: Problems): PlatformError {
  const location = { collection: entries[0]?.collection ?? 'platform_collections', index: undefined };
  return failedValidation(location, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}

const leftOut =
  'The configuration leaves it out, or the database has changed its name: some servers keep names of tables in lower case.';

/** Returns the answer to a change that was compiled. Throws the reasons where it does not compile. */
export async function answerOf(
  planned: ModelChange,
  made: Made | Problems,
): Promise<{ readonly answer: unknown; readonly made: Made }> {
  if (!('api' in made)) throw uncompiled(planned, made);
  const result = planned.respond(await describeModel(made.api));
  if (result === undefined) throw uncompiled(planned, [leftOut]);
  return { answer: result, made };
}
