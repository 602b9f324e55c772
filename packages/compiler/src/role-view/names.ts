/**
 * Names of collections → what the document calls their operations and components.
 *
 * Letters, digits and `_` only, as component names must be. The result depends on the given names alone, so the document
 * of an access class tells nothing about collections that are not in it.
 */
import { systemCollection } from '@tablewright/runtime/language';
import { createFactsOfNames } from '../cache/same.ts';
import { sha256 } from '../print/json.ts';

/** Names of one collection in the document, made at the first access: views hold many of them. */
export class DocumentNames {
  /** API name. */
  readonly collection: string;
  /** Spelling in the other names: `OrderLines`. */
  readonly spelling: string;
  /** `items/order_lines` */
  readonly tag: string;

  constructor(collection: string, spelling: string, tag: string) {
    this.collection = collection;
    this.spelling = spelling;
    this.tag = tag;
  }

  /** `ItemsOrderLines`: the component that describes an item. */
  get item(): string {
    return `Items${this.spelling}`;
  }

  /** `ValuesOrderLines`: values that items and aggregate rows have in common. */
  get values(): string {
    return `Values${this.spelling}`;
  }

  /** `RowsOrderLines`: a list of items, or of aggregate rows. */
  get rows(): string {
    return `Rows${this.spelling}`;
  }

  /** `FilterOrderLines` */
  get filter(): string {
    return `Filter${this.spelling}`;
  }

  /** `ConditionsOrderLines`: the names of a filter, to which relations add. */
  get conditions(): string {
    return `Conditions${this.spelling}`;
  }

  /** `RelatedOrderLines`: conditions on the items of a relation to many. */
  get related(): string {
    return `Related${this.spelling}`;
  }

  /** `SearchOrderLines`: the body of SEARCH. */
  get search(): string {
    return `Search${this.spelling}`;
  }

  /** `AggregateOrderLines`: the component that describes an aggregate row. */
  get aggregate(): string {
    return `Aggregate${this.spelling}`;
  }

  /** `FunctionsOrderLines`: the type of `aggregate`. */
  get functions(): string {
    return `Functions${this.spelling}`;
  }

  /** `GroupsOrderLines`: the names that `groupBy` takes. */
  get groups(): string {
    return `Groups${this.spelling}`;
  }

  /** `SumsOrderLines`: sums and means by field in an aggregate row; the next are least or greatest values. */
  get sums(): string {
    return `Sums${this.spelling}`;
  }

  get extremes(): string {
    return `Extremes${this.spelling}`;
  }

  /** `CountedOrderLines`: the fields that can be counted; the next two those that have a sum, and a least value. */
  get counted(): string {
    return `Counted${this.spelling}`;
  }

  get summed(): string {
    return `Summed${this.spelling}`;
  }

  get ranged(): string {
    return `Ranged${this.spelling}`;
  }

  /** `PayloadOrderLines`: what payloads of new items and of changes have in common. */
  get payload(): string {
    return `Payload${this.spelling}`;
  }

  /** `CreateOrderLines`: the payload of a new item. */
  get create(): string {
    return `Create${this.spelling}`;
  }

  /** `UpdateOrderLines`: changes of an item. */
  get update(): string {
    return `Update${this.spelling}`;
  }

  /** `ChangeOrderLines`: changes of the item whose key is among them. */
  get change(): string {
    return `Change${this.spelling}`;
  }

  /** `ManyOrderLines`: a relation to several items in payloads; `RemovableOrderLines` where they can be removed, too. */
  get nestedList(): string {
    return `Many${this.spelling}`;
  }

  get removableList(): string {
    return `Removable${this.spelling}`;
  }

  /** `UpsertOrderLines`: an item that is made or changed. */
  get upsert(): string {
    return `Upsert${this.spelling}`;
  }

  /** `readItemsOrderLines` */
  get list(): string {
    return `readItems${this.spelling}`;
  }

  /** `readSingleItemsOrderLines` */
  get single(): string {
    return `readSingleItems${this.spelling}`;
  }

  /** `searchItemsOrderLines` */
  get searchOperation(): string {
    return `searchItems${this.spelling}`;
  }

  /** `createItemsOrderLines` */
  get createOperation(): string {
    return `createItems${this.spelling}`;
  }

  /** `updateSingleItemsOrderLines` */
  get updateOne(): string {
    return `updateSingleItems${this.spelling}`;
  }

  /** `updateItemsOrderLines` */
  get updateMany(): string {
    return `updateItems${this.spelling}`;
  }

  /** `deleteSingleItemsOrderLines` */
  get deleteOne(): string {
    return `deleteSingleItems${this.spelling}`;
  }

  /** `deleteItemsOrderLines` */
  get deleteMany(): string {
    return `deleteItems${this.spelling}`;
  }
}

/**
 * Names the given collections. A name that loses characters on the way always ends in its hash. Among names that differ
 * only in case or underscores, all but the one written in the plain way (`order_lines`) do.
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
      const spelling = kept ? spell(name) : `${spell(name)}__${sha256(name).slice(0, 10)}`;
      const tag = systemCollection(name)?.path?.slice(1) ?? `items/${name}`;
      return [name, new DocumentNames(name, spelling, tag)];
    }),
  );
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
export function spellWhole(name: string): string {
  return plain.test(name) ? spell(name) : `${spell(name)}__${sha256(name).slice(0, 10)}`;
}

const plain = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const whole = /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/;

/** One capital per word; an underscore where a word begins with a digit. */
function spell(name: string): string {
  const terms = name.match(/[A-Za-z0-9]+/g) ?? [];
  return terms.map((word) => (/^\d/.test(word) ? `_${word}` : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}
