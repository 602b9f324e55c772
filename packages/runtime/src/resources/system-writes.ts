/** The platform's part in writes: hooks of its collections, and what follows their commits. */
import type { Transaction } from '../database/database.ts';
import type { CompiledApi } from '../language/index.ts';
import { compiledModel, type ModelChanges } from '../model/model-changes.ts';
import { type Audit, silentAudit } from '../operate/audit.ts';
import { createSystemHooks, noteTransactions } from '../users/system-hooks.ts';
import type { SystemWrites } from '../write/writer.ts';
import { auditWrites } from './audited-writes.ts';
import { createResourceHooks } from './system-hooks.ts';

/** Options of the platform's part. */
export interface SystemWritesOptions {
  readonly api: CompiledApi;
  /** Handles writes to roles and rules. Default: rules are refused, because the API is compiled from them. */
  readonly model?: ModelChanges;
  /** Told when users or roles may be others than before, after the commit. */
  readonly accountsChanged?: () => void;
  /** Told when mail was put down that waits to be sent, after the commit. */
  readonly mailed?: () => void;
  /** Told when contents of files were left behind, after the commit. */
  readonly contentsLeft?: () => void;
  /** Default: nothing is written down. */
  readonly audit?: Audit;
}

/** Makes the platform's part for one API. */
export function createSystemWrites(options: SystemWritesOptions): SystemWrites {
  const { api, model = compiledModel, accountsChanged, mailed, contentsLeft, audit = silentAudit } = options;
  const changing = new WeakSet<Transaction>();
  const mailing = new WeakSet<Transaction>();
  const leaving = new WeakSet<Transaction>();
  const audited = auditWrites(
    new Map([
      ...noteTransactions(createSystemHooks(api, model), (transaction) => changing.add(transaction)),
      ...createResourceHooks({
        api,
        model,
        mailed: (transaction) => mailing.add(transaction),
        left: (transaction) => leaving.add(transaction),
      }),
    ]),
    audit,
  );
  return {
    hooks: audited.hooks,
    committed(transaction) {
      audited.committed(transaction);
      if (changing.has(transaction)) accountsChanged?.();
      if (mailing.has(transaction)) mailed?.();
      if (leaving.has(transaction)) contentsLeft?.();
      return model.committed(transaction);
    },
  };
}
