/** One-line calls of which generated files of collections, relations and routes consist. */
import { type Dialect, defaultDialect, dialectFacts } from '../dialects.ts';
import { quoteName } from '../names.ts';
import { types } from '../types/index.ts';
import type { Route } from './api.ts';
import type {
  CollectionDescriptor,
  ColumnPair,
  ConstraintDescriptor,
  FieldDescriptor,
  ManyToAny,
  ManyToMany,
  ManyToOne,
  OneToMany,
  RelationDescriptor,
} from './collection.ts';

/** Facts of a field that differ from the usual. */
interface FieldFacts extends Partial<Omit<FieldDescriptor, 'name' | 'type' | 'comparison'>> {
  /** Null: none, where it is usual for the type. */
  readonly comparison?: string | null;
}

/** A field as generated files state it. */
interface StatedField extends Pick<FieldDescriptor, 'name' | 'type'>, FieldFacts {}

/** Facts of a collection that decide what is usual for its fields. */
export interface UsualFacts {
  /** Server whose forms the columns have. Default: that of embedded databases. */
  readonly dialect?: Dialect;
  /** Default: true. */
  readonly writable?: boolean;
}

/** A collection as generated files state it. */
interface CollectionFacts
  extends UsualFacts,
    Omit<CollectionDescriptor, 'name' | 'table' | 'singleton' | 'writable' | 'fields' | 'relations'> {
  /** Default: false. */
  readonly singleton?: boolean;
  readonly fields: readonly StatedField[];
  /** Default: none. */
  readonly relations?: readonly RelationDescriptor[];
}

/**
 * States a collection of a table, which is quoted for SQL.
 * @example collection('tags', '"public"."tags"', { key: ['id'], fields: [field('id', 'integer'), field('name', 'text')] })
 */
export function collection(name: string, table: string, facts: CollectionFacts): CollectionDescriptor {
  const { dialect, singleton = false, writable = true, fields, relations = [], ...others } = facts;
  const usual = { writable, ...(dialect && { dialect }) };
  const constraints = writable && { constraints: [] };
  return {
    ...{ name, table, singleton, writable, ...constraints, ...others },
    ...{ fields: fields.map((stated) => completeField(stated, usual)), relations },
  };
}

/**
 * States a field of a collection.
 * @example field('title', 'string', { maxLength: 255 })
 */
export function field(name: string, type: FieldDescriptor['type'], facts: FieldFacts = {}): StatedField {
  return { name, type, ...facts };
}

/** Makes a field of a type as it is usual: never null, written, and in a column of its name. */
export function usualField(
  { name, type }: Pick<FieldDescriptor, 'name' | 'type'>,
  { dialect = defaultDialect, writable = true }: UsualFacts,
): FieldDescriptor {
  const form = types[type].forms[dialectFacts[dialect].binaryRows ? 'binary' : 'text'];
  return { name, column: quoteName(name), type, ...form, nullable: false, writable };
}

function completeField({ comparison, ...stated }: StatedField, usual: UsualFacts): FieldDescriptor {
  const { comparison: usualComparison, ...form } = usualField(stated, usual);
  const compared = comparison === undefined ? usualComparison : comparison;
  return { ...form, ...stated, ...(typeof compared === 'string' && { comparison: compared }) };
}

/** Facts of a relation beside its name and its target. */
type Facts<Relation, Usual extends keyof Relation = never> = Omit<Relation, 'kind' | 'name' | 'target' | Usual> &
  Partial<Pick<Relation, Usual>>;

interface ManyToOneFacts extends Facts<Omit<ManyToOne, 'field'>, 'nullable'> {
  /** Null: none. Default: the one of its name where one column leads to the target, else none. */
  readonly field?: string | null;
}

/**
 * States a link by a foreign key that no relation has.
 * @example foreignLink('articles_author_id_fkey', 'authors', [pair('"author_id"', '"id"')])
 */
export function foreignLink(name: string, target: string, on: readonly ColumnPair[], nullable = true): ManyToOne {
  return { kind: 'm2o', name, target, on, nullable };
}

/** Default of `inverse`: the name of the column that leads back. */
type OneToManyFacts = Facts<OneToMany, 'onDeselect' | 'inverse'>;

/**
 * States a relation to the item whose key a collection holds.
 * @example m2o('author_id', 'users', { on: [pair('"author_id"', '"id"')], nullable: true })
 */
export function m2o(name: string, target: string, facts: ManyToOneFacts): ManyToOne {
  const { on, field = on.length === 1 ? name : null, nullable = false } = facts;
  return { kind: 'm2o', name, target, on, ...(field !== null && { field }), nullable };
}

/**
 * States a relation to the items that hold the key of a collection. A link that is taken away leaves null behind.
 * @example o2m('articles', 'articles', { on: [pair('"id"', '"author_id"')] })
 */
export function o2m(name: string, target: string, { onDeselect = 'nullify', ...facts }: OneToManyFacts): OneToMany {
  return { kind: 'o2m', name, target, onDeselect, inverse: usualInverse(facts.on), ...facts };
}

/** The column that leads back, unquoted: most relations have the name of their column. */
export function usualInverse([first]: readonly ColumnPair[]): string {
  return first?.to.slice(1, -1).replaceAll('""', '"') ?? '';
}

/**
 * States a relation to items by a junction.
 * @example m2m('tags', 'tags', { junction: 'links', junctionTable: '"links"', near: [pair('"id"', '"a"')], far: [pair('"b"', '"id"')] })
 */
export function m2m(name: string, target: string, facts: Facts<ManyToMany>): ManyToMany {
  return { kind: 'm2m', name, target, ...facts };
}

/**
 * States a relation to items of several collections; `target` is the collection of the links.
 * @example m2a('blocks', 'links', { on: [pair('"id"', '"page"')], collectionField: 'kind', itemField: 'item', allowed: ['texts'] })
 */
export function m2a(name: string, target: string, facts: Facts<ManyToAny>): ManyToAny {
  return { kind: 'm2a', name, target, ...facts };
}

/**
 * States a pair of columns that join two tables, both quoted for SQL.
 * @example pair('"author_id"', '"id"')
 */
export function pair(from: string, to: string, formula?: readonly string[]): ColumnPair {
  return { from, to, ...(formula && { formula }) };
}

/**
 * Gives the pairs of a relation without that of the tenant's column, which no link changes: both rows are of one tenant.
 * @example pairsBesideTenant(tasks, [pair('"tenant_id"', '"tenant_id"'), pair('"project"', '"id"')], 'from')
 */
export function pairsBesideTenant(
  { fields, tenant }: Pick<CollectionDescriptor, 'fields' | 'tenant'>,
  on: readonly ColumnPair[],
  side: 'from' | 'to',
): readonly ColumnPair[] {
  if (tenant?.kind !== 'compare' || on.length < 2) return on;
  const column = fields.find(({ name }) => name === tenant.field)?.column;
  return on.filter((candidate) => candidate[side] !== column);
}

/**
 * States a key by the name that the database reports, and its fields.
 * @example unique('users_email_key', ['email'])
 */
export function unique(
  name: string,
  fields: readonly string[],
  facts: Pick<ConstraintDescriptor, 'incomplete'> = {},
): ConstraintDescriptor {
  return { name, type: 'unique', fields, ...facts };
}

/**
 * States a foreign key; `target` is the collection that it leads to, where there is one.
 * @example foreignKey('articles_author_id_fkey', ['author_id'], { target: 'users' })
 */
export function foreignKey(
  name: string,
  fields: readonly string[],
  facts: Pick<ConstraintDescriptor, 'target' | 'unchecked' | 'deferrable' | 'deferred'> = {},
): ConstraintDescriptor {
  return { name, type: 'foreign_key', fields, ...facts };
}

/**
 * States a check; `exclusive` where other rows decide it.
 * @example check('products_price_check', ['price'])
 */
export function check(
  name: string,
  fields: readonly string[],
  facts: Pick<ConstraintDescriptor, 'exclusive'> = {},
): ConstraintDescriptor {
  return { name, type: 'check', fields, ...facts };
}

/** Actions of payloads that routes lead to. */
export type WriteAction = 'create' | 'update' | 'delete';

/**
 * States the routes of a collection below its path: those that read it, and those of the actions. Without a key it is
 * only listed, and a singleton is one item without keys.
 * @example const routes = itemRoutes(articles, 'create', 'update', 'delete');
 */
export function itemRoutes(collection: CollectionDescriptor, ...actions: readonly WriteAction[]): readonly Route[] {
  const { key, singleton } = collection;
  const isKeyed = key.length > 0;
  const routes = singleton ? singletonRoutes(isKeyed, actions) : listedRoutes(isKeyed, actions);
  return routes.map(([method, operation, byKey = false]) => ({ method, operation, collection, byKey }));
}

type Stated = readonly [method: Route['method'], operation: Route['operation'], byKey?: boolean];

const search: Stated = ['SEARCH', 'search'];

function singletonRoutes(isKeyed: boolean, actions: readonly WriteAction[]): readonly Stated[] {
  const changed: readonly Stated[] = isKeyed && actions.includes('update') ? [['PATCH', 'update']] : [];
  return [['GET', 'read'], search, ...changed];
}

function listedRoutes(isKeyed: boolean, actions: readonly WriteAction[]): readonly Stated[] {
  const listed: readonly Stated[] = [['GET', 'list'], search];
  return isKeyed ? [...listed, ['GET', 'read', true], ...actions.flatMap((action) => writeRoutes[action])] : listed;
}

const writeRoutes: Readonly<Record<WriteAction, readonly Stated[]>> = {
  create: [['POST', 'create']],
  update: [
    ['PATCH', 'update', true],
    ['PATCH', 'update'],
  ],
  delete: [
    ['DELETE', 'delete', true],
    ['DELETE', 'delete'],
  ],
};
