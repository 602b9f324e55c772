import type { Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import type { ChangeModel } from './model-changer.ts';

/** Collections of which the API is compiled. */
export type ModelCollection = 'platform_permissions' | 'platform_roles';

/** Handles writes to these collections. */
export interface ModelChanges {
  /** Why a collection cannot be written, as the message of UNPROCESSABLE_ENTITY; null where it can. */
  refusalOf(collection: ModelCollection): string | null;
  /** Waits for others who are changing the model; called before anything is written. */
  begin(transaction: Transaction): Promise<void>;
  /**
   * Compiles the rows that the transaction has written by now. Throws FAILED_VALIDATION with the reason if they do not
   * compile.
   */
  compile(transaction: Transaction, collection: ModelCollection): Promise<void>;
  /**
   * Serves the compiled API, once the transaction is committed; resolves when new requests are served by it. Undefined
   * if nothing was compiled.
   */
  committed(transaction: Transaction): Promise<void> | undefined;
  /** Changes collections, fields and relations. Rejects with UNPROCESSABLE_ENTITY where they stay as they were compiled. */
  readonly changeModel: ChangeModel;
}

/**
 * For a server that serves the API that it was started with: users may change roles, permissions of roles may not
 * change.
 */
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
