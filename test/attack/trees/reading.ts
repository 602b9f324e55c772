/** What a model knows while it reads a payload, and what the caller can see of it. */
import type { View } from '../model/view.ts';
import type { Json, JsonObject, Pair, Relation, Rows, Table } from '../model/world.ts';
import type { TreeWorld } from './draw-world.ts';
import type { Item, Order, State } from './state.ts';

/** Codes of errors. */
export type Code = 'FORBIDDEN' | 'FAILED_VALIDATION' | 'INVALID_PAYLOAD';

/** A request that writes a tree. `items` is the body's, one of which is changed where it has a key. */
export interface TreeRequest {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: Json;
  readonly collection: string;
  /** Each item with the key by which it is changed; null: it is made. */
  readonly items: readonly { readonly key: readonly Json[] | null; readonly payload: JsonObject }[];
}

/** What a request must come to. */
export interface Foretold {
  /** Why it must be refused; none: it must be done. */
  readonly codes: ReadonlySet<Code>;
  /** Set where the payload contradicts itself, or what it says depends on an order that nobody promised. */
  readonly open: string | undefined;
  readonly rows: Rows;
  readonly orders: readonly Order[];
}

/** What the place of an object asks of it. */
export type Form = 'create' | 'update' | 'either';

/** A relation whose items hold the key of the one above. */
export type ToMany = Extract<Relation, { readonly kind: 'o2m' | 'm2a' }>;

/** A relation through a junction. */
export type ManyToMany = Extract<Relation, { readonly kind: 'm2m' }>;

/** What the model carries while it reads. */
export interface Reading {
  readonly world: TreeWorld;
  readonly state: State;
  readonly view: View;
  readonly codes: Set<Code>;
  readonly orders: Order[];
  /** Pairs of junctions, and what was decided of them. */
  readonly pairs: Map<string, 'joined' | 'parted'>;
  /** What was said of each relation to many: whether it is all there is, and who is to be in it. */
  readonly lists: {
    readonly owner: Item;
    readonly on: readonly Pair[];
    readonly table: string;
    readonly complete: boolean;
    readonly listed: readonly Item[];
  }[];
  /** Keys that nothing was found by. */
  readonly missed: { readonly table: string; readonly key: readonly Json[] }[];
  /** Items whose readability decides. */
  readonly looked: Set<Item>;
  open: string | undefined;
}

/** Calls a request open. */
export function doubt(reading: Reading, why: string): void {
  reading.open ??= why;
}

/** Notes why a request must be refused. */
export function refuse(reading: Reading, code: Code): undefined {
  reading.codes.add(code);
  return undefined;
}

/** Whether the caller may read a stored row. */
export function sees({ world, view, looked }: Reading, item: Item): boolean {
  if (world.writes === null || item.before === undefined) return true;
  looked.add(item);
  return view.visible(item.table).includes(item.before);
}

/** Whether a child is part of the list that the caller knows. */
export function isSeen(reading: Reading, item: Item): boolean {
  if (reading.world.writes !== null && (reading.world.rules.get(item.table.name) ?? []).length === 0) {
    doubt(reading, 'a list of what cannot be read');
  }
  return sees(reading, item);
}

/** Whether the caller may read anything of a table. */
export function reads({ world }: Reading, { name }: Table): boolean {
  return (world.rules.get(name) ?? []).length > 0;
}

/** Whether the caller may read every row, and is told that one is missing. */
export function readsAll({ world }: Reading, { name }: Table): boolean {
  return world.writes === null || (world.rules.get(name) ?? []).some(({ filter }) => filter === null);
}

/** An item that a payload names by its key. It is there before the request. */
export function named(reading: Reading, table: Table, key: readonly Json[], mayMake = false): Item | undefined {
  const item = reading.state.find(table.name, key);
  if (item === undefined && !mayMake) reading.missed.push({ table: table.name, key });
  else if (item === undefined) return undefined;
  else if (item.before === undefined) doubt(reading, 'a key is made elsewhere in the payload');
  else if (item.gone) doubt(reading, 'an item is removed and linked');
  return item;
}
