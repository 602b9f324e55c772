/** A read in the words of the specification, whatever form it is sent in (API specification, section 5.1). */
import type { Json, JsonObject } from './world.ts';

/** What `deep` asks of one relation; other keys name relations below. */
export type Deep = { readonly [key: string]: Json };

/** A read of one collection. */
export interface Query {
  readonly collection: string;
  /** The key of one item, in the form of a path; the answer is that item. */
  readonly key?: string;
  /** Keys of the items that are wanted, all of which must be there. */
  readonly keys?: readonly Json[];
  readonly fields?: readonly string[];
  readonly filter?: JsonObject;
  readonly search?: string;
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
  /** Empty: the first page, whose `meta` tells where the next one starts. */
  readonly cursor?: string;
  readonly meta?: readonly string[];
  readonly alias?: { readonly [name: string]: string };
  readonly deep?: Deep;
  readonly aggregate?: { readonly [name: string]: readonly string[] };
  readonly groupBy?: readonly string[];
  readonly having?: JsonObject;
  readonly export?: string;
}

/** The form in which a query is sent. */
export type Form = 'body' | 'text' | 'brackets';

/** A query with the form it is sent in. `foretold` tells that the model knows its answer, and not only that there is one. */
export interface Asked {
  readonly query: Query;
  readonly form: Form;
  readonly foretold: boolean;
}

/** The parameters of a query: everything but what names the collection and its items. */
export function parametersOf({ collection: _, key: __, keys: ___, ...parameters }: Query): Omit<Query, 'collection'> {
  return parameters;
}
