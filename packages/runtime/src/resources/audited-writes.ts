/** Events of the audit for writes to users, roles and permissions, told once they are committed. */
import type { Transaction } from '../database/database.ts';
import type { ChangeModel } from '../model/model-changer.ts';
import type { Audit, AuditDetails, AuditEvent } from '../operate/audit.ts';
import { readElements } from '../sql/array-text.ts';
import { asMany, type Keys } from '../write/decode/keys.ts';
import type { RequestOrigin, Step, SystemHook, SystemHooks } from '../write/execute/running.ts';

/** One kind of write that is told. */
interface AuditedWrite {
  readonly collection: string;
  readonly event: AuditEvent;
  /** Field that must be written; null: every write counts. */
  readonly field: string | null;
}

const auditedWrites: readonly AuditedWrite[] = [
  { collection: 'platform_users', event: 'password-changed', field: 'password' },
  { collection: 'platform_users', event: 'token-made', field: 'token' },
  { collection: 'platform_users', event: 'role-changed', field: 'role' },
  { collection: 'platform_roles', event: 'role-changed', field: null },
  { collection: 'platform_permissions', event: 'permission-changed', field: null },
];

/** Keys of items that one line names. */
const maxItems = 20;

interface Entry {
  readonly event: AuditEvent;
  readonly sender: RequestOrigin;
  readonly details: AuditDetails;
}

/** Hooks whose writes are told, and the function that tells those of a committed transaction. */
interface AuditedWrites {
  readonly hooks: SystemHooks;
  readonly committed: (transaction: Transaction) => void;
}

/** Makes a change of the model that is told. */
export function auditModel(changeModel: ChangeModel, audit: Audit): ChangeModel {
  return async (plan, discard, origin) => {
    const response = await changeModel(plan, discard, origin);
    audit('model-changed', origin, { by: origin.user });
    return response;
  };
}

/** Watches over the hooks of the collections. */
export function auditWrites(hooks: SystemHooks, audit: Audit): AuditedWrites {
  const entries = new WeakMap<Transaction, Entry[]>();

  function watched(collection: string, hook: SystemHook): SystemHook {
    const writes = auditedWrites.filter((write) => write.collection === collection);
    if (writes.length === 0) return hook;
    return {
      async watch(running, step) {
        const after = await hook.watch(running, step);
        const audited = writes.filter(({ field }) => field === null || givesValue(step, field));
        if (audited.length === 0) return after;
        return async (keys) => {
          await after?.(keys);
          const { transaction, caller, sender } = running;
          const details = { by: caller.user, action: step.action, collection, items: keysOf(keys) };
          const earlier = entries.get(transaction) ?? [];
          entries.set(transaction, [...earlier, ...audited.map(({ event }) => ({ event, sender, details }))]);
        };
      },
    };
  }

  return {
    hooks: new Map([...hooks].map(([collection, hook]) => [collection, watched(collection, hook)])),
    committed(transaction) {
      for (const { event, sender, details } of entries.get(transaction) ?? []) audit(event, sender, details);
      entries.delete(transaction);
    },
  };
}

/** True if a step gives a field a value in some item; a role that is taken away counts, too. */
function givesValue({ action, batch }: Step, name: string): boolean {
  if (action === 'delete') return false;
  const column = batch.columns.find(({ field }) => field.descriptor.name === name);
  if (column === undefined) return false;
  return column.linked || (name === 'role' && action === 'update') || column.values.some((value) => value !== null);
}

function keysOf(keys: Keys): readonly string[] {
  const [text = '{}'] = asMany(keys).values;
  return readElements(text)
    .flatMap((key) => key ?? [])
    .slice(0, maxItems);
}
