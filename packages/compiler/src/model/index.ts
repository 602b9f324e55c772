/**
 * Api → what the model endpoints tell an access class. `openapi/view.ts` decides what is visible; everything here prints
 * what it is given. Source: API specification, section 12.
 */
import type { JsonValue, ModelDocument } from '@platform/runtime/contract';
import type { Api, ApiCollection } from '../api.ts';
import type { View, ViewCollection } from '../openapi/view.ts';
import { modelCollection, modelFolder } from './collections.ts';
import { declaredIn } from './declared.ts';
import { modelFields } from './fields.ts';
import { modelRelations } from './relations.ts';

/** A readable collection with what was compiled of it. */
export interface Told {
  readonly api: ApiCollection;
  readonly view: ViewCollection;
}

/** Everything that a class may read, by name. */
export type Sighted = ReadonlyMap<string, Told>;

/** Describes what an access class may read. */
export function emitModel(api: Api, view: View): ModelDocument & JsonValue {
  const views = new Map(view.collections.filter(({ readable }) => readable).map((one) => [one.name, one]));
  const told = api.collections.flatMap((one): readonly Told[] => {
    const seen = views.get(one.descriptor.name);
    return seen === undefined ? [] : [{ api: one, view: seen }];
  });
  const sighted: Sighted = new Map(told.map((one) => [one.view.name, one]));
  const declared = declaredIn(api);
  const collections = told.map((one) => modelCollection(one, declared.collection(one.view.name), view.note));
  const folders = view.administrator ? declared.folders.map(modelFolder) : [];
  return {
    collections: [...collections, ...folders].sort((a, b) => (a.collection < b.collection ? -1 : 1)),
    fields: told.flatMap((one) => modelFields(one, sighted, declared, view.note)),
    relations: told.flatMap((one) => modelRelations(one, sighted)),
  };
}

/** Whether a field of a collection is readable, or a relation that has no field. */
export function shows({ view }: Told, name: string): boolean {
  return [...view.fields, ...view.relations].some((one) => one.name === name);
}
