/** One-line calls of which relations and constraints in generated files consist. */
import type { ColumnPair, ConstraintDescriptor, ManyToAny, ManyToMany, ManyToOne, OneToMany } from './collection.ts';

/** Facts of a relation beside its name and its target. */
type Facts<Relation, Usual extends keyof Relation = never> = Omit<Relation, 'kind' | 'name' | 'target' | Usual> &
  Partial<Pick<Relation, Usual>>;

/** Facts of a many-to-one. */
export interface ManyToOneFacts extends Facts<Omit<ManyToOne, 'field'>, 'nullable'> {
  /** Null: none. Default: the one of its name where one column leads to the target, else none. */
  readonly field?: string | null;
}

/** Facts of a one-to-many. */
export type OneToManyFacts = Facts<OneToMany, 'onDeselect'>;

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
 * @example o2m('articles', 'articles', { on: [pair('"id"', '"author_id"')], inverse: 'author_id' })
 */
export function o2m(name: string, target: string, { onDeselect = 'nullify', ...facts }: OneToManyFacts): OneToMany {
  return { kind: 'o2m', name, target, onDeselect, ...facts };
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
export function pair(from: string, to: string): ColumnPair {
  return { from, to };
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
  facts: Pick<ConstraintDescriptor, 'target' | 'unchecked'> = {},
): ConstraintDescriptor {
  return { name, type: 'foreign_key', fields, ...facts };
}

/**
 * States a check.
 * @example check('products_price_check', ['price'])
 */
export function check(name: string, fields: readonly string[]): ConstraintDescriptor {
  return { name, type: 'check', fields };
}
