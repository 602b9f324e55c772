/** The platform's part in writes: hooks of its collections, and what follows their commits. */
import type { Caller } from '../caller.ts';
import { type Transaction, wholeOf } from '../database/database.ts';
import type { CompiledApi } from '../language/index.ts';
import type { ActivityEntry } from '../model/change.ts';
import { type ChangeModel, compiledModel, type ModelChanges, type PlanChange } from '../model/model-changer.ts';
import { type Audit, type AuditDetails, type AuditEvent, silentAudit } from '../operate/audit.ts';
import { createPlanner } from '../query/planner.ts';
import { readElements } from '../sql/array-text.ts';
import { systemPlaceOf } from '../system/place.ts';
import { bothHooks, createModelHook, createRoleHook } from '../users/role-hook.ts';
import { createUserHook } from '../users/user-hook.ts';
import { asMany, type Keys } from '../write/decode/keys.ts';
import type { RequestOrigin, Step, SystemHook, SystemHooks } from '../write/execute/running.ts';
import type { SystemWrites } from '../write/writer.ts';
import { createCommentHook, createMentions, type MayMail } from './comment-hook.ts';
import { createFileHook, createFolderHook } from './file-hook.ts';

interface SystemWritesOptions {
  readonly api: CompiledApi;
  /** Handles writes to roles and rules. Default: rules are refused, because the API is compiled from them. */
  readonly model?: ModelChanges;
  /** Told when users or roles may be others than before, after the commit. */
  readonly accountsChanged?: () => void;
  /** Told when mail was put down that waits to be sent, after the commit. */
  readonly mailed?: () => void;
  /** Default: every mention is mailed. */
  readonly mayMail?: MayMail;
  /** Told when contents of files were left behind, after the commit. */
  readonly contentsLeft?: () => void;
  /** Default: nothing is written down. */
  readonly audit?: Audit;
}

/** Makes the platform's part for one API. */
export function createSystemWrites(options: SystemWritesOptions): SystemWrites {
  const { api, model = compiledModel, accountsChanged, mailed, contentsLeft, audit = silentAudit } = options;
  const { mayMail = async () => true } = options;
  const changing = new WeakSet<Transaction>();
  const mailing = new WeakSet<Transaction>();
  const leaving = new WeakSet<Transaction>();
  const audited = auditWrites(
    new Map([
      ...noteTransactions(createSystemHooks(api, model), (transaction) => changing.add(wholeOf(transaction))),
      ...createResourceHooks({
        api,
        model,
        mailed: (transaction) => mailing.add(wholeOf(transaction)),
        mayMail,
        left: (transaction) => leaving.add(wholeOf(transaction)),
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

interface ResourceHooksOptions {
  readonly api: CompiledApi;
  /** Called with a transaction that has queued mail. */
  readonly mailed: (transaction: Transaction) => void;
  readonly mayMail: MayMail;
  /** Called with a transaction that leaves contents without a file. */
  readonly left: (transaction: Transaction) => void;
  /** Handles writes to the collections that the API is compiled from. */
  readonly model: ModelChanges;
}

/** The hooks of comments, files, folders, roles and rules; none if the platform's own tables are not installed. */
function createResourceHooks({ api, mailed, mayMail, left, model }: ResourceHooksOptions): SystemHooks {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  // Limits of lists are for requests: this one asks for the items that it names.
  const planner = createPlanner(api);
  return new Map([
    ['platform_files', createFileHook({ place: location, left })],
    ['platform_folders', createFolderHook(location)],
    ['platform_permissions', createModelHook(model, 'platform_permissions')],
    [
      'platform_comments',
      createCommentHook({
        place: location,
        planner,
        hear: createMentions({ api, place: location, planner, mailed, mayMail }),
      }),
    ],
  ]);
}

/** The systemHooks of an API; none where the platform's own tables are not installed. */
function createSystemHooks(api: CompiledApi, model: ModelChanges): SystemHooks {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  const admins = new Set(api.access.flatMap(({ name, admin }) => (admin ? [name] : [])));
  const isAdmin = ({ accessClass }: Caller): boolean => admins.has(accessClass);
  return new Map([
    ['platform_users', createUserHook(location, isAdmin)],
    ['platform_roles', bothHooks(createModelHook(model, 'platform_roles'), createRoleHook(location))],
  ]);
}

/** The same systemHooks, with every transaction noted in which one of them watches. */
function noteTransactions(systemHooks: SystemHooks, note: (transaction: Transaction) => void): SystemHooks {
  return new Map(
    [...systemHooks].map(([collection, systemHook]) => [
      collection,
      {
        watch(running, step) {
          note(running.transaction);
          return systemHook.watch(running, step);
        },
      } satisfies SystemHook,
    ]),
  );
}

/** One kind of write that is told. */
interface AuditedWrite {
  readonly collection: string;
  readonly event: AuditEvent;
  /** Fields one of which must be written; null: every write counts. */
  readonly fields: readonly string[] | null;
}

const auditedWrites: readonly AuditedWrite[] = [
  { collection: 'platform_users', event: 'password-changed', fields: ['password'] },
  { collection: 'platform_users', event: 'provider-changed', fields: ['provider', 'external_identifier'] },
  { collection: 'platform_users', event: 'token-made', fields: ['token'] },
  { collection: 'platform_users', event: 'role-changed', fields: ['role'] },
  { collection: 'platform_roles', event: 'role-changed', fields: null },
  { collection: 'platform_permissions', event: 'permission-changed', fields: null },
];

/** Keys of items that one line names. */
const maxItems = 20;

interface Entry {
  readonly event: AuditEvent;
  readonly sender: RequestOrigin;
  readonly details: AuditDetails;
}

export function auditModel(changeModel: ChangeModel, audit: Audit): ChangeModel {
  return async (plan, discard, origin, once) => {
    let entries: readonly ActivityEntry[] | undefined;
    const noted: PlanChange = (model) => {
      const change = plan(model);
      entries = change.activity;
      return change;
    };
    const response = await changeModel(noted, discard, origin, once);
    // An answer that was kept is of no new change.
    if (entries === undefined) return response;
    // Changes of one request are of one kind.
    const [{ action, collection } = {}] = entries;
    const items = entries.map(({ item }) => item).slice(0, maxItems);
    audit('model-changed', origin, { by: origin.user, action, collection, items });
    return response;
  };
}

/** Watches over the hooks of the collections. */
function auditWrites(hooks: SystemHooks, audit: Audit) {
  const entries = new WeakMap<Transaction, Entry[]>();

  function watched(collection: string, hook: SystemHook): SystemHook {
    const writes = auditedWrites.filter((write) => write.collection === collection);
    if (writes.length === 0) return hook;
    return {
      async watch(running, step) {
        const after = await hook.watch(running, step);
        const audited = writes.filter(({ fields }) => fields?.some((field) => givesValue(step, field)) ?? true);
        if (audited.length === 0) return after;
        return async (keys) => {
          await after?.(keys);
          const { caller, sender } = running;
          const transaction = wholeOf(running.transaction);
          const details = { by: caller.user, action: step.action, collection, items: keysOf(keys) };
          const earlier = entries.get(transaction) ?? [];
          entries.set(transaction, [...earlier, ...audited.map(({ event }) => ({ event, sender, details }))]);
        };
      },
    };
  }

  return {
    hooks: new Map([...hooks].map(([collection, hook]) => [collection, watched(collection, hook)])),
    committed(transaction: Transaction): void {
      for (const { event, sender, details } of entries.get(transaction) ?? []) audit(event, sender, details);
      entries.delete(transaction);
    },
  };
}

/** Fields of which it counts, too, that a change takes their values away. */
const emptied = ['role', 'external_identifier'];

/** True if a step gives a field a value in some item, or takes away one that counts. */
function givesValue({ action, batch }: Step, name: string): boolean {
  if (action === 'delete') return false;
  const column = batch.columns.find(({ field }) => field.descriptor.name === name);
  if (column === undefined) return false;
  return (
    column.linked || (emptied.includes(name) && action === 'update') || column.values.some((value) => value !== null)
  );
}

function keysOf(keys: Keys): readonly string[] {
  const [text = '{}'] = asMany(keys).values;
  return readElements(text)
    .flatMap((key) => key ?? [])
    .slice(0, maxItems);
}
