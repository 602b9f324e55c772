/** Write permissions of one access class: the only place where a name becomes a column (security property P4). */

import type { Caller } from '../../caller.ts';
import type {
  AccessClass,
  AccessRule,
  CollectionAccess,
  CompiledApi,
  FieldDescriptor,
  WriteRule,
} from '../../language/index.ts';
import { systemCollection } from '../../language/system/system.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { withArchived } from '../../sql/archived/other-rows.ts';
import { accessOf, buildOpenScope, buildScope, type CollectionScope, type Scope } from '../../sql/scope.ts';
import { defaultFieldLimits, type FieldLimits } from '../../system/fields/field-rules.ts';

/** Everything one access class may write. A collection that is not in it does not exist for writing. */
export interface WriteScope {
  readonly admin: boolean;
  /** Read permissions of the class: for answers, and for the items that payloads link. */
  readonly read: Scope;
  /** Every name on every row of the caller's tenant, as rules use them. */
  readonly open: Scope;
  readonly collections: ReadonlyMap<string, WritableCollection>;
  readonly fieldLimits: FieldLimits;
}

/** One collection that some action of the class changes. */
export interface WritableCollection {
  /** In the open scope. */
  readonly collection: CollectionScope;
  readonly create: WriteGrant | undefined;
  readonly update: WriteGrant | undefined;
  readonly delete: readonly AccessRule[] | undefined;
  /** Allowed values of the fields in which links name the collection of their item. Absent without links. */
  readonly links?: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if payloads may name the key fields, which are hidden from callers who can neither read nor write them. */
  readonly namesKey: boolean;
}

/** The rules of one action, and the names that its payloads may have. */
export interface WriteGrant {
  readonly rules: readonly WriteRule[];
  /** Fields that some rule lists and the database lets anyone write, each with the positions of these rules. */
  readonly fields: ReadonlyMap<string, WritableField>;
  /** Every name that some rule lists, including relations and fields that cannot be written. */
  readonly listed: ReadonlySet<string>;
}

export interface WritableField {
  readonly descriptor: FieldDescriptor;
  /** Places of the rules that list it, ascending. */
  readonly rules: readonly number[];
}

/** A collection with the rules by which one of its actions is granted. */
export interface Granted {
  readonly writable: WritableCollection;
  readonly grant: WriteGrant;
  /** The grant before rules were left out that the caller cannot use. */
  readonly all: WriteGrant;
}

export function createWriteScopes(
  api: CompiledApi,
  fieldLimits: FieldLimits = defaultFieldLimits,
): (accessClass: string) => WriteScope {
  const open = buildOpenScope(api);
  const scopes = new Map<string, WriteScope>();
  return function scopeOf(accessClass) {
    return findOrCreate(scopes, accessClass, () => buildWriteScope(api, accessOf(api, accessClass), open, fieldLimits));
  };
}

function buildWriteScope(
  api: CompiledApi,
  access: AccessClass,
  everything: Scope,
  fieldLimits: FieldLimits,
): WriteScope {
  const collections = new Map<string, WritableCollection>();
  const read = buildScope(api, access, everything);
  const open = read.rules ?? everything;
  for (const granted of access.collections) {
    const collection = open.collections.get(granted.collection);
    if (collection === undefined || !isWrittenByPayloads(collection)) continue;
    const links = linkedBy(api, granted.collection);
    const built = buildCollection(collection, granted, read.collections.get(granted.collection), links);
    collections.set(granted.collection, access.admin ? { ...built, namesKey: true } : built);
  }
  return { admin: access.admin, read, open, collections, fieldLimits };
}

/** Scope in which stored rows count for a write: those the caller reads, or all of the tenant where it reads none. */
export function countedScope({ read, open }: WriteScope, collection: string): Scope {
  return read.collections.has(collection) ? read : open;
}

/**
 * The scope of a write that finds archived items of a collection as well. Rules that look at the collection through
 * relations see live items all the same. Undefined where the class may not see which items are archived.
 */
export function archivedWrites(scope: WriteScope, name: string): WriteScope | undefined {
  const { read, open, collections } = scope;
  const shown = read.collections.get(name);
  const readable = shown && withArchived(shown, 'include');
  const writable = collections.get(name);
  if (readable === undefined || writable === undefined) return undefined;
  const { live: _, ...collection } = writable.collection;
  return {
    ...scope,
    open,
    read: { ...read, collections: new Map([...read.collections, [name, readable]]) },
    collections: new Map([...collections, [name, { ...writable, collection }]]),
  };
}

/** True unless it is a system collection without a path: only those with a path have system hooks. */
function isWrittenByPayloads({ descriptor }: CollectionScope): boolean {
  return descriptor.system !== true || systemCollection(descriptor.name)?.path !== undefined;
}

/** Returns the allowed values of fields that name the collections of links that a collection holds. */
function linkedBy({ collections }: CompiledApi, name: string): WritableCollection['links'] {
  const links = new Map<string, Set<string>>();
  for (const relation of collections.flatMap(({ relations }) => relations)) {
    if (relation.kind !== 'm2a' || relation.target !== name) continue;
    const { collectionField, allowed } = relation;
    links.set(collectionField, new Set([...(links.get(collectionField) ?? []), ...allowed]));
  }
  return links.size === 0 ? undefined : links;
}

function buildCollection(
  collection: CollectionScope,
  granted: CollectionAccess,
  read: CollectionScope | undefined,
  links: WritableCollection['links'],
): WritableCollection {
  const grant = (rules: readonly WriteRule[] | undefined): WriteGrant | undefined =>
    rules === undefined || rules.length === 0 ? undefined : buildGrant(collection, rules);
  const [create, update] = [grant(granted.create), grant(granted.update)];
  const named = [read, create, update];
  return {
    collection,
    create,
    update,
    delete: granted.delete?.length === 0 ? undefined : granted.delete,
    ...(links !== undefined && { links }),
    namesKey: collection.descriptor.key.every((name) => named.some((names) => names?.fields.has(name) === true)),
  };
}

function buildGrant({ descriptor }: CollectionScope, rules: readonly WriteRule[]): WriteGrant {
  const fields = new Map<string, WritableField>();
  for (const field of descriptor.fields) {
    const listing = rules.flatMap((rule, index) => (rule.fields.includes(field.name) ? [index] : []));
    if (field.writable && listing.length > 0) fields.set(field.name, { descriptor: field, rules: listing });
  }
  return { rules, fields, listed: new Set(rules.flatMap((rule) => rule.fields)) };
}

/**
 * The grant as far as a caller can use it. A rule whose preset needs a value that the caller lacks is none (API
 * specification, section 5.3). Undefined when no rule is left.
 */
export function grantFor(
  { collection }: WritableCollection,
  grant: WriteGrant | undefined,
  caller: Caller,
): WriteGrant | undefined {
  if (grant === undefined) return undefined;
  const usable = grant.rules.filter((rule) => canPreset(rule, caller));
  if (usable.length === grant.rules.length) return grant;
  return usable.length === 0 ? undefined : buildGrant(collection, usable);
}

/**
 * True if the values that a rule sets exist. Only the database knows the value of a path from the caller, see
 * `presetsHold`.
 * @example const usable = rules.filter((rule) => canPreset(rule, { accessClass: 'editor', user: null, role: null }));
 */
export function canPreset({ presets }: WriteRule, caller: Caller): boolean {
  return presets.every(
    ({ value }) => value.kind !== 'caller' || (value.of === 'user' ? caller.user : caller.role) !== null,
  );
}
