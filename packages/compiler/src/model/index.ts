/** Api → answers of the model endpoints to a class, as `role-view/` shows it. Source: API specification, section 12. */
import type { JsonValue, ModelDocument } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import { createCache, type Lookup, type Watch } from '../cache/memo-cache.ts';
import { createInterning } from '../cache/same.ts';
import { type Chunk, packChunk } from '../print/chunks.ts';
import type { DocumentPart } from '../print/class-document.ts';
import { type Layout, textOfItems } from '../print/json.ts';
import type { NoteReader } from '../role-view/notes.ts';
import type { RoleView } from '../role-view/role-view.ts';
import {
  type DescribedCollection,
  declaredIn,
  type ModelContext,
  modelCollection,
  modelFolder,
  shows,
} from './collections.ts';
import { modelFields } from './fields.ts';
import { modelRelations } from './relations.ts';

/** Describes what an access class may read. */
export function emitModel(api: Api, view: RoleView): ModelDocument & JsonValue {
  const parts = partsOf(api, view, (collection, sources) => partOf(collection, sources.all, sources.make));
  const folders = view.administrator ? declaredIn(api, true).folders.map(modelFolder) : [];
  const collections = [...parts.map((part) => part.collection), ...folders];
  return {
    collections:
      folders.length === 0 ? collections : collections.sort((a, b) => (a.collection < b.collection ? -1 : 1)),
    fields: parts.flatMap(({ fields }) => fields),
    relations: parts.flatMap(({ relations }) => relations),
  };
}

/** The same as text in parts, which classes share where they see the same. */
export function modelParts(api: Api, view: RoleView): readonly DocumentPart[] {
  const parts = partsOf(api, view, (collection, sources) => ({
    name: collection.view.name,
    ...textsOf(collection, sources.all, (watch) => printPart(sources.make(watch))),
  }));
  const folders = view.administrator ? declaredIn(api, true).folders.map(modelFolder) : [];
  const collections = [
    ...parts.map(({ name, collection }) => ({ name, text: collection })),
    ...folders.map((folder) => ({ name: folder.collection, text: textOfItems([folder], depth, layout) })),
  ];
  if (folders.length > 0) collections.sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    { name: '{', text: ['{'] },
    ...listed('collections', collections),
    ...listed(
      'fields',
      parts.map(({ name, fields }) => ({ name, text: fields })),
    ),
    ...listed(
      'relations',
      parts.map(({ name, relations }) => ({ name, text: relations })),
    ),
    { name: '}', text: ['}'] },
  ];
}

interface NamedText {
  readonly name: string;
  readonly text: Chunk;
}

/** A list of the document, with a part for what it has of each collection. */
function listed(list: string, texts: readonly NamedText[]): readonly DocumentPart[] {
  const items = texts.filter(({ text }) => text.length > 0);
  return [
    { name: `${list} [`, text: [`  "${list}": [`] },
    ...items.map(({ name, text }) => ({ name: `${list} ${name}`, text: [' '.repeat(depth), text, ','] })),
    { name: `${list} ]`, text: ['  ],'] },
  ];
}

/** Depth of the parts in the document. */
const depth = 4;

/** Lines of their own have collections, fields and relations. */
const layout: Layout = { levels: 2 };

interface Part {
  readonly collection: ReturnType<typeof modelCollection>;
  readonly fields: ReturnType<typeof modelFields>;
  readonly relations: ReturnType<typeof modelRelations>;
}

/** All fields of a collection are one text, and so are all relations; empty for none. */
type PartTexts = ReturnType<typeof printPart>;

function printPart({ collection, fields, relations }: Part) {
  const print = (values: readonly JsonValue[]): Chunk => packChunk(textOfItems(values, depth, layout));
  return { collection: print([collection]), fields: print(fields), relations: print(relations) };
}

const internCollection = createInterning<DescribedCollection>();
const partOf = createCache<Part>();
const textsOf = createCache<PartTexts>();

interface PartSources {
  readonly all: readonly Lookup<unknown>[];
  readonly make: (watch: Watch) => Part;
}

/** Descriptions of each collection; classes that see the same of it and of its relations share one. */
function partsOf<Made>(
  api: Api,
  view: RoleView,
  create: (collection: DescribedCollection, sources: PartSources) => Made,
): readonly Made[] {
  const views = new Map(
    view.collections.filter(({ readable }) => readable).map((collection) => [collection.name, collection]),
  );
  const describedCollections = api.collections.flatMap((collection): readonly DescribedCollection[] => {
    const seen = views.get(collection.descriptor.name);
    return seen === undefined ? [] : [internCollection(seen, { api: collection, view: seen })];
  });
  const all = new Map(describedCollections.map((collection) => [collection.view.name, collection]));
  const relations = describedCollections.flatMap((collection) =>
    collection.api.descriptor.relations.filter(({ name }) => shows(collection, name)),
  );
  const junctions = new Map(
    relations.flatMap((relation) => (relation.kind === 'm2m' ? [[relation.junction, true] as const] : [])),
  );
  const links = relations
    .filter((relation) => relation.kind === 'm2a')
    .map((relation) => [relation.target, relation] as const);
  const owners = new Map(links.toReversed());
  const notes: Lookup<string | null> = { get: view.note, has: () => true };
  const { collections, fields, virtualFields } = declaredIn(api, view.administrator);
  const sources = [all, junctions, owners, notes, collections, fields, virtualFields];
  return describedCollections.map((collection) =>
    create(collection, {
      all: sources,
      make: (watch) => {
        const context: ModelContext = { collections: watch(all), junctions: watch(junctions), owners: watch(owners) };
        const read = watch(notes);
        const noted: NoteReader = (text) => (text === null ? null : (read.get(text) ?? null));
        return {
          collection: modelCollection(collection, watch(collections).get(collection.view.name), noted),
          fields: modelFields(
            collection,
            context,
            { fields: watch(fields), virtualFields: watch(virtualFields) },
            noted,
          ),
          relations: modelRelations(collection, context),
        };
      },
    }),
  );
}
