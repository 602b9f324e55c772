/**
 * Facts of each collection, stated by generated clients for the types of this folder to look up. No type here walks
 * over all collections: a collection that a query does not name costs nothing.
 */

/** A relation to one item. */
export interface One<Target extends string, Nullable extends boolean> {
  readonly kind: 'one';
  readonly target: Target;
  readonly nullable: Nullable;
}

/** A relation to many items; null stands where the caller may not see the list. */
export interface Many<Target extends string, Nullable extends boolean> {
  readonly kind: 'many';
  readonly target: Target;
  readonly nullable: Nullable;
}

/**
 * A many-to-any: link rows of `Target`. Their field `Type` names a collection, and their field `Item` holds a key in
 * it. Items of `Linked` can be read in its place.
 */
export interface Links<
  Target extends string,
  Nullable extends boolean,
  Type extends string,
  Item extends string,
  Linked extends string,
> {
  readonly kind: 'links';
  readonly target: Target;
  readonly nullable: Nullable;
  readonly type: Type;
  readonly item: Item;
  readonly linked: Linked;
}

/** Name of a field's function in a response, and its value. */
export interface Call<Name extends string, Value> {
  readonly name: Name;
  readonly value: Value;
}

/** Facts of one collection, stated by a generated client. */
export interface Facts {
  /** The item without anything nested; null where nothing of it can be read. */
  readonly row: unknown;
  /** `One`, `Many` and `Links` by name. */
  readonly relations: object;
  /** `Call` by path: `year(released)`, and by the name of a computed field. */
  readonly functions: object;
  readonly key: unknown;
  readonly filter: unknown;
  /** Names of fields and functions that have an order. */
  readonly sort: string;
  readonly groups: string;
  readonly counted: string;
  readonly summed: string;
  readonly ranged: string;
  readonly create: unknown;
  readonly update: unknown;
  readonly change: unknown;
  /** Result of a write whose item may not be readable: null, or never. */
  readonly unread: null;
  readonly rights: Right;
}

/** A group of methods of a collection; `methods` says which. */
export type Right = keyof typeof methods;

/** The methods of each permission: reading lists includes aggregating, and so on. */
export const methods = {
  list: ['readByQuery', 'readAll', 'aggregate'],
  read: ['readOne', 'readMany'],
  create: ['createOne', 'createMany'],
  update: ['updateOne'],
  updateKeys: ['updateMany', 'updateBatch'],
  updateQuery: ['updateByQuery'],
  delete: ['deleteOne'],
  deleteKeys: ['deleteMany'],
  deleteQuery: ['deleteByQuery'],
  single: ['read'],
  updateSingle: ['update'],
} as const;

/** A payload some of whose fields the relation sets, so that they need not be there. */
export type Given<Payload, Fields extends keyof Payload> = Omit<Payload, Fields> & Partial<Pick<Payload, Fields>>;

/** Changes of a relation that leave everything unlisted as it is. */
export interface Changes<Create, Update, Key> {
  readonly create?: readonly Create[];
  readonly update?: readonly Update[];
  /** Items that are made, or changed where there is one with their key. */
  readonly upsert?: readonly (Create | Update)[];
  readonly delete?: readonly Key[];
}

/** A link of a many-to-any: `Set` are the fields that it, or the item above, stands for. */
export type LinkTo<Link, Set extends PropertyKey, Collection extends string, Item> = Omit<Link, Set> & {
  readonly collection: Collection;
  readonly item: Item;
};
