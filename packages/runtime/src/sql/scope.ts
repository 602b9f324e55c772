import { type SqlDialect, sqlDialects } from '../dialects/index.ts';
import {
  type AccessClass,
  type AccessRule,
  always,
  both,
  type CollectionDescriptor,
  type CompiledApi,
  type Condition,
  type FieldDescriptor,
  type FilterNames,
  isAlways,
  type RelationDescriptor,
  systemCollection,
} from '../language/index.ts';
import { isSecret } from '../language/types/index.ts';
import { derivedOnce } from '../language/values/once.ts';
import { type RowsByState, rowsOf } from './archived/rows-by-state.ts';

/**
 * Everything one access class can name: the only place where a name of a request becomes a column (security property
 * P1). A name that is not in these maps is FORBIDDEN, whether it is hidden or does not exist (P3).
 */
export interface Scope {
  readonly dialect: SqlDialect;
  readonly collections: ReadonlyMap<string, CollectionScope>;
  /** The scope that row rules are written in: every name, every row. */
  readonly rules: Scope | null;
  /** Set on the scope of rules where rows are bound to a tenant: every row. Paths from the caller lead through it. */
  readonly everything?: Scope;
  /** Set where callers without a token have it. */
  readonly isPublic?: true;
}

export interface CollectionScope extends RowsByState {
  readonly descriptor: CollectionDescriptor;
  readonly fields: ReadonlyMap<string, FieldScope>;
  readonly relations: ReadonlyMap<string, RelationScope>;
  /** Set where rows hold items of other collections, and not everything that they hold can be read. */
  readonly copies?: CopiedColumns;
}

/** The fields that `CopyNames` names. */
export interface CopiedColumns {
  readonly collection: FieldDescriptor;
  readonly item: FieldDescriptor;
  readonly whole: FieldDescriptor;
  readonly contents: readonly FieldDescriptor[];
}

/** Conditions under which a cell of a readable row is readable: always (null), or when one of these conditions holds on the row. */
export type Grant = readonly Condition[] | null;

/** One readable field. Secret fields can be selected (masked), and nothing else. */
export interface FieldScope {
  readonly descriptor: FieldDescriptor;
  readonly grant: Grant;
  readonly secret: boolean;
}

/** One readable relation whose target is readable too. */
export interface RelationScope {
  readonly descriptor: RelationDescriptor;
  readonly grant: Grant;
  /** The target where a request asks for other rows of it than the scope has. */
  readonly target?: CollectionScope;
}

/** The access class of a name that the API has. */
export function accessOf({ access }: Pick<CompiledApi, 'access'>, name: string): AccessClass {
  const found = access.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`there is no access class "${name}"`);
  return found;
}

const openScopes = new WeakMap<CompiledApi['collections'], Scope>();

/** The scope in which every name can be read on every row: that of rules and of administrators. One of an API, for all. */
export function buildOpenScope(api: Pick<CompiledApi, 'collections' | 'dialect'>): Scope {
  const cached = openScopes.get(api.collections);
  if (cached !== undefined && cached.dialect === sqlDialects[api.dialect]) return cached;
  const scope = openScope(api);
  openScopes.set(api.collections, scope);
  return scope;
}

function openScope(api: Pick<CompiledApi, 'collections' | 'dialect'>): Scope {
  const collections = new Map<string, CollectionScope>();
  for (const descriptor of api.collections) {
    const fields = descriptor.fields.map((field) => field.name);
    const names = [...fields, ...descriptor.relations.map((relation) => relation.name)];
    const rule: AccessRule = { fields: names, where: { kind: 'and', of: [] } };
    collections.set(
      descriptor.name,
      buildCollection(descriptor, [rule], () => true),
    );
  }
  return { dialect: sqlDialects[api.dialect], collections, rules: null };
}

/** Scope of rules in which every row of the caller's tenant can be read, along every relation; else the open one. */
const boundScope = derivedOnce((open: Scope): Scope => {
  const collections = [...open.collections.values()];
  return collections.every(({ descriptor }) => descriptor.tenant === undefined)
    ? open
    : { ...open, collections: new Map(collections.map(boundCollection)), everything: open };
});

function boundCollection(collection: CollectionScope): readonly [string, CollectionScope] {
  const { name, tenant } = collection.descriptor;
  const rows = collection.rows.map((row) => both(tenant ?? always, row));
  return [name, tenant === undefined ? collection : { ...collection, rows }];
}

/** Builds the scope of an access class; `open` is that of `buildOpenScope`. */
export function buildScope(api: Pick<CompiledApi, 'collections' | 'dialect'>, access: AccessClass, open: Scope): Scope {
  const guest = access.roles.includes('public') ? ({ isPublic: true } as const) : {};
  if (access.admin) return { dialect: open.dialect, collections: open.collections, rules: open, ...guest };
  const seen = access.exempt === true ? open : boundScope(open);
  const rules = new Map<string, readonly AccessRule[]>();
  for (const { collection, read } of access.collections) {
    if (read !== undefined && read.length > 0) rules.set(collection, read);
  }
  const collections = new Map<string, CollectionScope>();
  for (const descriptor of api.collections) {
    const access = rules.get(descriptor.name);
    if (access !== undefined) {
      const copies = copiesOf(descriptor);
      const collection = buildCollection(descriptor, access, (target) => rules.has(target));
      collections.set(descriptor.name, copies === undefined ? collection : { ...collection, copies });
    }
  }
  return { dialect: open.dialect, collections, rules: seen, ...guest };
}

function buildCollection(
  descriptor: CollectionDescriptor,
  rules: readonly AccessRule[],
  readable: (collection: string) => boolean,
): CollectionScope {
  const fields = new Map<string, FieldScope>();
  const relations = new Map<string, RelationScope>();
  for (const field of descriptor.fields) {
    const grant = grantOf(rules, field.name);
    if (grant !== undefined) fields.set(field.name, { descriptor: field, grant, secret: isSecret(field.type) });
  }
  for (const relation of descriptor.relations) {
    const grant = grantOf(rules, relation.name);
    if (grant !== undefined && readable(relation.target)) relations.set(relation.name, { descriptor: relation, grant });
  }
  return { descriptor, fields, relations, ...rowsOf(descriptor, rules) };
}

function copiesOf({ name, system, fields }: CollectionDescriptor): CopiedColumns | undefined {
  const names = system === true ? systemCollection(name)?.copies : undefined;
  if (names === undefined) return undefined;
  const field = (fieldName: string): FieldDescriptor | undefined =>
    fields.find((candidate) => candidate.name === fieldName);
  const [collection, item, whole] = [field(names.collection), field(names.item), field(names.whole)];
  const contents = names.contents.flatMap((fieldName) => field(fieldName) ?? []);
  if (collection === undefined || item === undefined || whole === undefined)
    throw new Error(`${name} lacks its fields`);
  return { collection, item, whole, contents };
}

/** The rules that list a name: null when all do or one of them holds on every row, undefined when none does. */
function grantOf(rules: readonly AccessRule[], name: string): Grant | undefined {
  const listing = rules.filter((rule) => rule.fields.includes(name));
  if (listing.length === 0) return undefined;
  const isGranted = listing.length === rules.length || listing.some(({ where }) => isAlways(where));
  return isGranted ? null : listing.map(({ where }) => where);
}

/** A scope in which a collection holds no rows: that of a view that has not been populated yet. */
export function withoutRows(scope: Scope, name: string): Scope {
  const collection = scope.collections.get(name);
  if (collection === undefined) return scope;
  return { ...scope, collections: new Map([...scope.collections, [name, { ...collection, rows: [] }]]) };
}

/** Names that a scope allows in an export: `*` omits secret fields, and naming one is FORBIDDEN (section 5.6). */
export const exportScope = derivedOnce((scope: Scope): Scope => {
  const collections = [...scope.collections].map(([name, collection]): [string, CollectionScope] => {
    const fields = new Map([...collection.fields].filter(([, field]) => !field.secret));
    return [name, { ...collection, fields }];
  });
  return { ...scope, collections: new Map(collections) };
});

export function filterNames(scope: Scope): FilterNames {
  return {
    field(collection, name) {
      const field = scope.collections.get(collection)?.fields.get(name);
      return field === undefined || field.secret ? undefined : field.descriptor;
    },
    relation(collection, name) {
      const relation = scope.collections.get(collection)?.relations.get(name)?.descriptor;
      if (relation?.kind !== 'm2a') return relation;
      const targets = relation.allowed.filter((target) => scope.collections.has(target));
      return { kind: relation.kind, target: relation.target, targets };
    },
    key: (collection) => scope.collections.get(collection)?.descriptor.key ?? [],
  };
}

/** The fields of a collection's key; empty when it has none. */
export function keyFields(descriptor: CollectionScope['descriptor']): readonly FieldDescriptor[] {
  return descriptor.key.flatMap((name) => descriptor.fields.find((field) => field.name === name) ?? []);
}
