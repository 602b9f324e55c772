/**
 * Api → what the model endpoints tell an access class. `openapi/view.ts` decides what is visible; everything here prints
 * what it is given. Source: API specification, section 12.
 */
import type { JsonValue, ManyToAny, ModelDocument } from '@platform/runtime/contract';
import type { Api, ApiCollection } from '../api.ts';
import { createMemory, type Lookup } from '../memory/remember.ts';
import { createInterning } from '../memory/same.ts';
import type { NoteReader } from '../openapi/notes.ts';
import type { View, ViewCollection } from '../openapi/view.ts';
import { keepText } from '../print/json.ts';
import { modelCollection, modelFolder } from './collections.ts';
import { type Declared, declaredIn } from './declared.ts';
import { modelFields } from './fields.ts';
import { modelRelations } from './relations.ts';

/** A readable collection with what was compiled of it. */
export interface Told {
  readonly api: ApiCollection;
  readonly view: ViewCollection;
}

/** What may be looked at to tell of one collection. */
export interface Sighted {
  /** Everything that a class may read, by name. */
  readonly told: Lookup<Told>;
  /** The junctions of readable many-to-many relations. */
  readonly junctions: Lookup<true>;
  /** The first readable many-to-any of each link collection. */
  readonly owners: Lookup<ManyToAny>;
}

/** Describes what an access class may read. */
export function emitModel(api: Api, view: View): ModelDocument & JsonValue {
  const views = new Map(view.collections.filter(({ readable }) => readable).map((one) => [one.name, one]));
  const told = api.collections.flatMap((one): readonly Told[] => {
    const seen = views.get(one.descriptor.name);
    return seen === undefined ? [] : [oneOf(seen, { api: one, view: seen })];
  });
  const declared = declaredIn(api);
  const parts = partsOf(told, declared, view.note);
  const folders = view.administrator ? declared.folders.map((row) => keepText(modelFolder(row))) : [];
  const collections = [...parts.flatMap((part) => part.collections), ...folders];
  return {
    collections:
      folders.length === 0 ? collections : collections.sort((a, b) => (a.collection < b.collection ? -1 : 1)),
    fields: parts.flatMap(({ fields }) => fields),
    relations: parts.flatMap(({ relations }) => relations),
  };
}

interface Part {
  readonly collections: readonly ReturnType<typeof modelCollection>[];
  readonly fields: ReturnType<typeof modelFields>;
  readonly relations: ReturnType<typeof modelRelations>;
}

const oneOf = createInterning<Told>();
const partOf = createMemory<Part>();

/** What is told of each collection; classes that see the same of it and of what it leads to share it. */
function partsOf(told: readonly Told[], declared: Declared, note: NoteReader): readonly Part[] {
  const all = new Map(told.map((one) => [one.view.name, one]));
  const relations = told.flatMap((one) => one.api.descriptor.relations.filter(({ name }) => shows(one, name)));
  const junctions = new Map(relations.flatMap((one) => (one.kind === 'm2m' ? [[one.junction, true] as const] : [])));
  const links = relations.filter((one) => one.kind === 'm2a').map((one) => [one.target, one] as const);
  const owners = new Map(links.toReversed());
  const notes: Lookup<string | null> = { get: note, has: () => true };
  const { collections, fields } = declared;
  return told.map((one) =>
    partOf(one, [all, junctions, owners, notes, collections, fields], (watch) => {
      const sighted: Sighted = { told: watch(all), junctions: watch(junctions), owners: watch(owners) };
      const read = watch(notes);
      const noted: NoteReader = (text) => (text === null ? null : (read.get(text) ?? null));
      return {
        collections: [keepText(modelCollection(one, watch(collections).get(one.view.name), noted))],
        fields: modelFields(one, sighted, watch(fields), noted).map(keepText),
        relations: modelRelations(one, sighted).map(keepText),
      };
    }),
  );
}

/** Whether a field of a collection is readable, or a relation that has no field. */
export function shows({ view }: Told, name: string): boolean {
  return [...view.fields, ...view.relations].some((one) => one.name === name);
}
