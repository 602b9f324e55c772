/** The TypeScript types of relational payloads that generated files share. Source: API specification, section 7. */

/** A link of a many-to-any as payloads have it: `Set` are the fields that it, or the item above, stands for. */
export type LinkTo<Link, Set extends PropertyKey, Collection extends string, Item> = Omit<Link, Set> & {
  readonly collection: Collection;
  readonly item: Item;
};

/** Changes of a to-many relation that leave everything unlisted as it is. */
export interface ManyChanges<Key, Create, Update> {
  readonly create?: readonly Create[];
  readonly update?: readonly Update[];
  /** Items that are made, or changed where there is one with their key. */
  readonly upsert?: readonly (Create | Update)[];
  readonly delete?: readonly Key[];
}
