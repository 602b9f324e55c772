/** Related items in payloads. Source: API specification, section 7. */

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
