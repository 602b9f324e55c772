import type { Database } from '../database/database.ts';
import type { PlatformError } from '../errors.ts';
import { failedValidation } from '../json/problems.ts';
import { accessNames } from '../language/descriptors/access-names.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import type { ChangeOrigin } from '../system/log-changes.ts';
import type { SystemPlace } from '../system/place.ts';
import type { ModelChange } from './change.ts';
import type { KnownModel } from './model-sql.ts';
import type { ModelRows, RecompileOptions, Recompiler, RunTexts } from './recompiler.ts';

/** Tables to be watched. */
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

/** Options of the model changer. */
export interface ModelChangerOptions {
  readonly database: Pick<Database, 'transaction' | 'schemaSession'>;
  readonly recompiler: Pick<Recompiler, 'schema' | 'migrationNames'>;
  readonly tables: () => WatchedTables;
  /** The API that says what the tables say. */
  readonly compiledIn: (run: RunTexts, tables: WatchedTables) => Promise<CompiledApi>;
  /** Compiles what has been made of the tables; the options' `read` is called as soon as they have been read. */
  readonly compileIn: (run: RunTexts, tables: WatchedTables, options: CompileOptions) => Promise<Made | Problems>;
  /** Serves it. */
  readonly serve: (made: Made) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
}

/** Why there is no next generation. */
export type Problems = readonly string[];

/** Options of a compilation. */
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

/** Makes a change, and gives what is answered when new requests are answered by the next generation. */
export type ChangeModel = (plan: PlanChange, discard: boolean, origin: ChangeOrigin) => Promise<unknown>;

/** The model as administrators see it. */
export function describeModel(api: CompiledApi): ReturnType<CompiledApi['model']> {
  return api.model(accessNames(api).admin);
}

export function uncompiled({ activity: entries }: ModelChange, problems: Problems): PlatformError {
  const location = { collection: entries[0]?.collection ?? 'platform_collections', index: undefined };
  return failedValidation(location, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}

/** Returns the answer to a change that was compiled. Throws the reasons where it does not compile. */
export async function answerOf(
  planned: ModelChange,
  made: Made | Problems,
): Promise<{ readonly answer: unknown; readonly made: Made }> {
  if (!('api' in made)) throw uncompiled(planned, made);
  const result = planned.respond(await describeModel(made.api));
  if (result === undefined) throw uncompiled(planned, ['The configuration leaves it out.']);
  return { answer: result, made };
}
