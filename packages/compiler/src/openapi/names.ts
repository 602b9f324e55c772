/**
 * Names of collections → what the document calls their operations and components.
 *
 * Letters, digits and `_` only, as component names must be. The result depends on the given names alone, so the document
 * of an access class tells nothing about collections that are not in it.
 */
import { systemCollection } from '@platform/runtime/contract';
import { createFactsOfNames } from '../memory/facts.ts';
import { sha256 } from '../print/hash.ts';

/** What the document calls one collection. */
export interface DocumentNames {
  /** API name. */
  readonly collection: string;
  /** `ItemsOrderLines`: the component that describes an item. */
  readonly item: string;
  /** `FilterOrderLines` */
  readonly filter: string;
  /** `ConditionsOrderLines`: the names of a filter, to which relations add. */
  readonly conditions: string;
  /** `SearchOrderLines`: the body of SEARCH. */
  readonly search: string;
  /** `AggregateOrderLines`: the component that describes an aggregate row. */
  readonly aggregate: string;
  /** `FunctionsOrderLines`: what `aggregate` takes. */
  readonly functions: string;
  /** `HavingOrderLines` */
  readonly having: string;
  /** `GroupsOrderLines`: the names that `groupBy` takes. */
  readonly groups: string;
  /** `CountedOrderLines`: the fields that can be counted; the next two those that have a sum, and a least value. */
  readonly counted: string;
  readonly summed: string;
  readonly ranged: string;
  /** `CreateOrderLines`: what a new item is made from. */
  readonly create: string;
  /** `UpdateOrderLines`: changes of an item. */
  readonly update: string;
  /** `ChangeOrderLines`: changes of the item whose key is among them. */
  readonly change: string;
  /** `UpsertOrderLines`: an item that is made or changed. */
  readonly upsert: string;
  /** `readItemsOrderLines` */
  readonly list: string;
  /** `readSingleItemsOrderLines` */
  readonly single: string;
  /** `searchItemsOrderLines` */
  readonly searchOperation: string;
  /** `createItemsOrderLines` */
  readonly createOperation: string;
  /** `updateSingleItemsOrderLines` */
  readonly updateOne: string;
  /** `updateItemsOrderLines` */
  readonly updateMany: string;
  /** `deleteSingleItemsOrderLines` */
  readonly deleteOne: string;
  /** `deleteItemsOrderLines` */
  readonly deleteMany: string;
  /** `items/order_lines` */
  readonly tag: string;
}

/**
 * Names the given collections.
 *
 * A name that loses characters on the way always ends in its hash; of names that differ only in case or underscores, all
 * but the one written in the plain way (`order_lines`) do.
 */
export function nameDocument(collections: readonly string[]): ReadonlyMap<string, DocumentNames> {
  return namesOfAll(collections, () => findNames(collections));
}

const namesOfAll = createFactsOfNames<ReadonlyMap<string, DocumentNames>>();

function findNames(collections: readonly string[]): ReadonlyMap<string, DocumentNames> {
  const groups = Map.groupBy(collections, (name) => spell(name).toLowerCase());
  return new Map(
    collections.map((name) => {
      const shared = (groups.get(spell(name).toLowerCase()) ?? []).length > 1;
      const kept = plain.test(name) || (whole.test(name) && !shared);
      // No spelling holds two underscores in a row, so a name with its hash is never another's without.
      return [name, namesSpelled(name, kept ? spell(name) : `${spell(name)}__${sha256(name).slice(0, 10)}`)];
    }),
  );
}

/** How a collection is spelled in its names. */
export function spellingOf({ item }: DocumentNames): string {
  return item.slice(itemPrefix.length);
}

/** The name of a payload's component where a relation sets some of its fields: `CreateCommentsWithoutPostId`. */
export function nameWithout(component: string, fields: readonly string[]): string {
  return fields.length === 0 ? component : `${component}Without${fields.map(spellWhole).join('And')}`;
}

/** The name of the component that describes a link of a many-to-any: `LinkPages_Sections`. */
export function nameLink(collection: string, relation: string): string {
  return `Link${spellWhole(collection)}_${spellWhole(relation)}`;
}

/** With the hash of a name that is written in another way than the plain one, so that no two are one. */
function spellWhole(name: string): string {
  return plain.test(name) ? spell(name) : `${spell(name)}__${sha256(name).slice(0, 10)}`;
}

const itemPrefix = 'Items';

const plain = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const whole = /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/;

/** One capital per word; an underscore where a word begins with a digit. */
function spell(name: string): string {
  const words = name.match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => (/^\d/.test(word) ? `_${word}` : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}

/** The names of a collection by how it is spelled in all of them. */
export function namesSpelled(collection: string, spelling: string): DocumentNames {
  return {
    collection,
    item: `${itemPrefix}${spelling}`,
    filter: `Filter${spelling}`,
    conditions: `Conditions${spelling}`,
    search: `Search${spelling}`,
    aggregate: `Aggregate${spelling}`,
    functions: `Functions${spelling}`,
    having: `Having${spelling}`,
    groups: `Groups${spelling}`,
    counted: `Counted${spelling}`,
    summed: `Summed${spelling}`,
    ranged: `Ranged${spelling}`,
    create: `Create${spelling}`,
    update: `Update${spelling}`,
    change: `Change${spelling}`,
    upsert: `Upsert${spelling}`,
    list: `readItems${spelling}`,
    single: `readSingleItems${spelling}`,
    searchOperation: `searchItems${spelling}`,
    createOperation: `createItems${spelling}`,
    updateOne: `updateSingleItems${spelling}`,
    updateMany: `updateItems${spelling}`,
    deleteOne: `deleteSingleItems${spelling}`,
    deleteMany: `deleteItems${spelling}`,
    tag: systemCollection(collection)?.path?.slice(1) ?? `items/${collection}`,
  };
}
