/** Access class → writes that its rules grant. Like `visible-api.ts`, it decides before anything is printed. */
import type { AccessClass, CollectionAccess, WriteRule } from '@tablewright/runtime/language';
import type { Api, ApiCollection, Operation } from '../api.ts';
import { createFactsOfTwo, isSame } from '../cache/same.ts';

/** Writes of one collection that an access class has. */
export interface GrantedWrites {
  readonly api: ApiCollection;
  readonly create: GrantedPayload | null;
  readonly update: GrantedPayload | null;
  readonly delete: boolean;
  /** True if DELETE archives items and can be told to remove them for good. */
  readonly purge: boolean;
}

/** The names of a payload. */
export interface GrantedPayload {
  /** Fields that some rule lists and the database lets anyone write. */
  readonly fields: ReadonlySet<string>;
  /** Every name that some rule lists, those of relations too. */
  readonly listed: ReadonlySet<string>;
  /** Fields that the rules set when the payload does not. */
  readonly preset: ReadonlySet<string>;
}

/** Writes of an access class, by collection name in the Api's order; with null, all writes. */
export function grantedWritesOf(api: Api, access: AccessClass | null): ReadonlyMap<string, GrantedWrites> {
  const granted = new Map((access?.collections ?? []).map((granted) => [granted.collection, granted]));
  return new Map(
    api.collections.flatMap((collection): [string, GrantedWrites][] => {
      const name = collection.descriptor.name;
      const permissions = granted.get(name);
      if (access !== null && permissions === undefined) return [];
      const writes = writeFacts(collection, permissions ?? everything, () =>
        writesOf(collection, permissions ?? null, access?.admin === true),
      );
      return writes.create || writes.update || writes.delete ? [[name, writes]] : [];
    }),
  );
}

/** Stands for what is granted where there are no rules. */
const everything = {};

const writeFacts = createFactsOfTwo<ApiCollection, object, GrantedWrites>();

function writesOf(api: ApiCollection, granted: CollectionAccess | null, isAdmin: boolean): GrantedWrites {
  const kinds = new Set<Operation['kind']>(api.operations.map(({ kind }) => kind));
  const singleton = kinds.has('updateSingleton');
  const payload = (rules: readonly WriteRule[] | undefined): GrantedPayload | null =>
    rules === undefined || rules.length === 0 ? null : payloadOf(api, rules);
  const whole = granted === null ? payloadOf(api, null) : null;
  const create = kinds.has('create') ? (granted === null ? whole : payload(granted.create)) : null;
  // Where both actions take the same, what is made of it is made and looked at once.
  const alike = create !== null && (granted === null || isSame(granted.create, granted.update));
  const update = alike ? create : granted === null ? whole : payload(granted.update);
  return {
    api,
    create,
    update: kinds.has('update') || singleton ? update : null,
    delete: kinds.has('delete') && (granted === null || (granted.delete ?? []).length > 0),
    purge: kinds.has('delete') && api.descriptor.softDelete !== undefined && mayPurge(granted, isAdmin),
  };
}

/** Administrators need no rule for it. */
function mayPurge(granted: CollectionAccess | null, isAdmin: boolean): boolean {
  return isAdmin || granted === null || granted.delete?.some(({ purge }) => purge === true) === true;
}

function payloadOf({ descriptor }: ApiCollection, rules: readonly WriteRule[] | null): GrantedPayload {
  const writable = descriptor.fields.filter(({ writable }) => writable).map(({ name }) => name);
  const every = [...descriptor.fields, ...descriptor.relations].map(({ name }) => name);
  const listed = new Set(rules === null ? every : rules.flatMap(({ fields }) => fields));
  const preset = new Set(rules?.flatMap(({ presets }) => presets.map(({ field }) => field)));
  return { fields: new Set(writable.filter((name) => listed.has(name))), listed, preset };
}
