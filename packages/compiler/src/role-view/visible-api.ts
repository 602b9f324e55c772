/** Api and access class → the visible part of the Api, by the rules of the class. */
import type { AccessClass, AccessRule, CollectionAccess, ManyToAny, WriteRule } from '@tablewright/runtime/language';
import type { Api, ApiCollection, Operation } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFacts, createFactsOfTwo, createInterning, isSame } from '../cache/same.ts';
import { type DocumentNames, nameDocument } from './names.ts';
import { everyNote, type NoteReader, withoutHiddenNames } from './notes.ts';

export interface VisibleCollection {
  readonly api: ApiCollection;
  readonly names: DocumentNames;
  /** Names of the fields and relations that some rule lists. */
  readonly readable: ReadonlySet<string>;
  /** The rules under which it is read; null means every row and field. */
  readonly rules: readonly AccessRule[] | null;
}

export interface VisibleApi {
  readonly visible: Lookup<VisibleCollection>;
  readonly links: Lookup<readonly ManyToAny[]>;
  /** All many-to-any relations, hidden ones too, by their link collection. */
  readonly allLinks: Lookup<readonly ManyToAny[]>;
  readonly note: NoteReader;
  readonly writes: Lookup<WritableCollection>;
}

/** The writable part of a collection, and its names in the document. */
interface WritableCollection {
  readonly granted: GrantedWrites;
  readonly names: DocumentNames;
}

/** View of an access class; with null, of everything. */
export function visibleApiOf(api: Api, access: AccessClass | null): VisibleApi {
  const readable = readableCollections(api, access);
  const writes = grantedWritesOf(api, access);
  const names = nameDocument(
    api.collections.map(({ descriptor }) => descriptor.name).filter((name) => readable.has(name) || writes.has(name)),
  );
  const visible = new Map(
    [...readable].flatMap(([name, visibleCollection]): [string, VisibleCollection][] => {
      const documentNames = names.get(name);
      const collection = documentNames && {
        ...visibleCollection,
        names: documentNames,
        readable: withoutHiddenTargets(visibleCollection, readable),
      };
      return collection ? [[name, internVisible(visibleCollection.api, collection)]] : [];
    }),
  );
  const isWhole = api.collections.every(({ descriptor }) => visible.get(descriptor.name)?.rules === null);
  const shown = ({ descriptor }: ApiCollection) =>
    visibleNames(visible.get(descriptor.name), writes.get(descriptor.name));
  return {
    visible,
    links: linksByTarget([...visible.values()].flatMap((collection) => manyToAny(collection.api, collection.readable))),
    allLinks: linksByTarget(api.collections.flatMap((collection) => manyToAny(collection, null))),
    note: isWhole ? everyNote : withoutHiddenNames(api, shown),
    writes: new Map(
      [...writes].flatMap(([name, collection]) => {
        const documentNames = names.get(name);
        return documentNames
          ? [[name, internWritable(collection.api, { granted: collection, names: documentNames })] as const]
          : [];
      }),
    ),
  };
}

/** Classes that see the same have one object of it, so what is made of that is found again. */
const internVisible = createInterning<VisibleCollection>();
const internWritable = createInterning<WritableCollection>();
const internLinks = createInterning<readonly ManyToAny[]>();

/** The names of a collection that are read or written; null when it is hidden. */
function visibleNames(
  collection: VisibleCollection | undefined,
  writes: GrantedWrites | undefined,
): ReadonlySet<string> | null {
  if (collection === undefined && writes === undefined) return null;
  const payloads = [writes?.create, writes?.update].flatMap((payload) => [...(payload?.fields ?? [])]);
  return new Set([...(collection?.readable ?? []), ...payloads]);
}

type Readable = Omit<VisibleCollection, 'names'>;

/** A collection whose rules list nothing is hidden. */
function readableCollections(api: Api, access: AccessClass | null): ReadonlyMap<string, Readable> {
  const granted = new Map((access?.collections ?? []).map((granted) => [granted.collection, granted]));
  const all = api.collections.map((collection) => {
    const permissions = access === null ? everything : (granted.get(collection.descriptor.name) ?? nothing);
    return readableFacts(collection, permissions, () => readableOf(collection, permissions));
  });
  const some = all.filter(({ rules, readable }) => rules === null || readable.size > 0);
  return new Map(some.map((collection) => [collection.api.descriptor.name, collection]));
}

/** Stand for what is granted where there are no rules, and where there are none of a collection. */
const everything = { read: null };
const nothing = { read: [] };

const readableFacts = createFactsOfTwo<ApiCollection, Grant, Readable>();

type Grant = CollectionAccess | typeof everything | typeof nothing;

function readableOf(api: ApiCollection, granted: Grant): Readable {
  const names = ownNames(
    api,
    () => new Set([...api.descriptor.fields, ...api.descriptor.relations].map(({ name }) => name)),
  );
  if (granted.read === null) return { api, rules: null, readable: names };
  const rules = granted.read ?? [];
  // A rule of everything, as administrators have it, hides nothing.
  const whole =
    names.size > 0 && rules.some((rule) => everyRow(rule) && [...names].every((name) => rule.fields.includes(name)));
  if (whole) return { api, rules: null, readable: names };
  const listed = new Set(rules.flatMap(({ fields }) => fields));
  return { api, rules, readable: new Set([...names].filter((name) => listed.has(name))) };
}

const ownNames = createFacts<ApiCollection, ReadonlySet<string>>();

/** A relation without a field is often called as its target, so it goes with it. */
function withoutHiddenTargets(
  { api, readable }: Readable,
  visible: ReadonlyMap<string, Readable>,
): ReadonlySet<string> {
  const lost = api.descriptor.relations.filter(({ target }) => !visible.has(target));
  if (lost.length === 0) return readable;
  const fields = new Set(api.descriptor.fields.map(({ name }) => name));
  const hidden = new Set(lost.map(({ name }) => name).filter((name) => !fields.has(name)));
  return new Set([...readable].filter((name) => !hidden.has(name)));
}

function manyToAny({ descriptor }: ApiCollection, readable: ReadonlySet<string> | null): readonly ManyToAny[] {
  return descriptor.relations
    .filter((relation) => relation.kind === 'm2a')
    .filter(({ name }) => readable?.has(name) ?? true);
}

function linksByTarget(relations: readonly ManyToAny[]): ReadonlyMap<string, readonly ManyToAny[]> {
  const groups = Map.groupBy(relations, ({ target }) => target);
  return new Map([...groups].map(([target, links]) => [target, internLinks(links[0] ?? links, links)]));
}

/** Reason against using something, or null. A reason that names what is hidden is empty: that there is one is no secret. */
export function reasonOf({ deprecated }: { readonly deprecated?: string }, { note }: VisibleApi): string | null {
  return deprecated === undefined ? null : (note(deprecated) ?? '');
}

/** True if a readable name reads as null on some rows, because no rule that matches them lists it. */
export function isMasked({ rules }: VisibleCollection, name: string): boolean {
  const listing = (rules ?? []).filter(({ fields }) => fields.includes(name));
  return rules !== null && listing.length < rules.length && !listing.some(everyRow);
}

/** True if some rows are hidden, so that null stands in the place of their key. */
export function isPartial({ rules }: VisibleCollection): boolean {
  return rules !== null && !rules.some(everyRow);
}

function everyRow({ where }: AccessRule): boolean {
  return where.kind === 'and' && where.of.length === 0;
}

/** Writes of one collection that an access class has. */
export type GrantedWrites = ReturnType<typeof writesOf>;

export interface GrantedPayload {
  /** Fields that some rule lists and the database lets anyone write. */
  readonly fields: ReadonlySet<string>;
  /** Every name that some rule lists, those of relations too. */
  readonly listed: ReadonlySet<string>;
  /** Fields that the rules set when the payload does not. */
  readonly preset: ReadonlySet<string>;
}

/** Writes of an access class, by collection name in the Api's order; with null, all writes. */
function grantedWritesOf(api: Api, access: AccessClass | null): ReadonlyMap<string, GrantedWrites> {
  const granted = new Map((access?.collections ?? []).map((granted) => [granted.collection, granted]));
  return new Map(
    api.collections.flatMap((collection): [string, GrantedWrites][] => {
      const name = collection.descriptor.name;
      const permissions = granted.get(name);
      if (access !== null && permissions === undefined) return [];
      const writes = writeFacts(collection, permissions ?? everyWrite, () =>
        writesOf(collection, permissions ?? null, access?.admin === true),
      );
      return writes.create || writes.update || writes.delete ? [[name, writes]] : [];
    }),
  );
}

/** Stands for what is granted where there are no rules. */
const everyWrite = {};

const writeFacts = createFactsOfTwo<ApiCollection, object, GrantedWrites>();

function writesOf(api: ApiCollection, granted: CollectionAccess | null, isAdmin: boolean) {
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
    /** True if DELETE archives items and can be told to remove them for good. */
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
