/**
 * What generated clients state of each collection, for the types of this folder to look up. Nothing here walks over all
 * collections: what a query does not name costs nothing.
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
 * A many-to-any: link rows of `Target`, whose field `Type` names a collection and whose field `Item` holds a key in it;
 * items of `Linked` can be read in its place.
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

/** What a function of a field is called in an answer, and its value. */
export interface Call<Name extends string, Value> {
  readonly name: Name;
  readonly value: Value;
}

/** What a generated client states of one collection. */
export interface Facts {
  /** The item without anything nested; null where nothing of it can be read. */
  readonly row: unknown;
  /** `One`, `Many` and `Links` by name. */
  readonly relations: object;
  /** `Call` by path: `year(released)`. */
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
  /** What a write answers when the item that it wrote may not be read: null, or never. */
  readonly unread: null;
  readonly rights: Right;
}

/** A group of methods of a collection; `methods` says which. */
export type Right = keyof typeof methods;

/** The methods of each right: who may list items may also aggregate them, and so on. */
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
