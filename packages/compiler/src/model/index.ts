/**
 * Api → what the model endpoints tell an access class. `role-view/` decides what is visible; everything here prints
 * what it is given. Source: API specification, section 12.
 */

import type { JsonValue, ModelDocument } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { DiskCache } from '../cache/disk-cache.ts';
import { createCache, type Lookup, type Watch } from '../cache/remember.ts';
import { createInterning } from '../cache/same.ts';
import { type Chunk, packChunk } from '../print/chunks.ts';
import { type Layout, printDocument, textOfItems } from '../print/document.ts';
import { onlyText, textOf } from '../print/only-text.ts';
import type { NoteReader } from '../role-view/notes.ts';
import type { RoleView } from '../role-view/role-view.ts';
import { modelCollection, modelFolder } from './collections.ts';
import { type DescribedCollection, type ModelContext, shows } from './context.ts';
import { declaredIn } from './declared.ts';
import { modelFields } from './fields.ts';
import { modelRelations } from './relations.ts';

/** Describes what an access class may read. */
export function emitModel(api: Api, view: RoleView): ModelDocument & JsonValue {
  const parts = partsOf(api, view, (collection, sources) => partOf(collection, sources.all, null, sources.make));
  const folders = view.administrator ? declaredIn(api, true).folders.map(modelFolder) : [];
  const collections = [...parts.map((part) => part.collection), ...folders];
  return {
    collections:
      folders.length === 0 ? collections : collections.sort((a, b) => (a.collection < b.collection ? -1 : 1)),
    fields: parts.flatMap(({ fields }) => fields),
    relations: parts.flatMap(({ relations }) => relations),
  };
}

/** The same as text in chunks, which classes share where they see the same. */
export function printModel(api: Api, view: RoleView, diskCache: DiskCache | null): readonly Chunk[] {
  const parts = partsOf(api, view, (collection, sources) => ({
    name: collection.view.name,
    ...textsOf(collection, sources.all, diskCache, (watch) => printPart(sources.make(watch))),
  }));
  const folders = view.administrator ? declaredIn(api, true).folders.map(modelFolder) : [];
  const named = [
    ...parts.map(({ name, collection }) => ({ name, printed: collection })),
    ...folders.map((folder) => ({ name: folder.collection, printed: folder })),
  ];
  const collections = folders.length === 0 ? named : named.sort((a, b) => (a.name < b.name ? -1 : 1));
  const document = {
    collections: collections.map(({ printed }) => printed),
    fields: parts.flatMap(({ fields }) => fields),
    relations: parts.flatMap(({ relations }) => relations),
  };
  return printDocument(document, layout);
}

/** Where the parts stand in the document. */
const depth = 4;

/** Lines of their own have the members of collections, fields and relations. */
const layout: Layout = { levels: 3 };

interface Part {
  readonly collection: ReturnType<typeof modelCollection>;
  readonly fields: ReturnType<typeof modelFields>;
  readonly relations: ReturnType<typeof modelRelations>;
}

type Printed = ReturnType<typeof onlyText>;

/** Known by their texts only: all fields of a collection are one text, and so are all relations. */
interface PartTexts {
  readonly collection: Printed;
  readonly fields: readonly Printed[];
  readonly relations: readonly Printed[];
}

function printPart({ collection, fields, relations }: Part): PartTexts {
  const print = (values: readonly JsonValue[]): Chunk => packChunk(textOfItems(values, depth, layout));
  return textsIn([print([collection]), print(fields), print(relations)]);
}

const internCollection = createInterning<DescribedCollection>();
const partOf = createCache<Part>();
const textsOf = createCache<PartTexts>({
  generator: 'model',
  texts: ({ collection, fields, relations }) =>
    [collection, fields[0], relations[0]].map((json) => (json === undefined ? '' : textOf(json, depth))),
  made: textsIn,
});

/** Nothing for a text that is empty. */
function textsIn([collection = '', fields = '', relations = '']: readonly Chunk[]): PartTexts {
  const listed = (text: Chunk) => (text.length === 0 ? [] : [onlyText(text, depth)]);
  return { collection: onlyText(collection, depth), fields: listed(fields), relations: listed(relations) };
}

/** Sources of a part. */
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
