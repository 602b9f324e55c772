import type { Api, ApiCollection } from '../api.ts';
import type { Archive } from '../memory/archive.ts';
import { createModuleMemory, type ModuleText } from '../memory/module-texts.ts';
import type { Lookup } from '../memory/remember.ts';
import type { TypeDeclaration } from '../print/declaration.ts';
import { printDeclarations } from '../print/declarations.ts';
import { type Import, printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { leaves } from '../print/type.ts';
import { declareTypes } from './collection-types.ts';
import { runtimeTypes } from './runtime-names.ts';
import type { Render } from './templates.ts';

/** Look-ups that every collection file needs, made once. */
export interface CollectionIndex {
  readonly collections: ReadonlyMap<string, ApiCollection>;
  /** Names of types by the file that declares them, relative to its neighbours. */
  readonly typeFiles: ReadonlyMap<string, string>;
}

/** Indexes the collections of an API. */
export function indexCollections(api: Api): CollectionIndex {
  const typeFiles = api.collections.flatMap(({ names }) =>
    [names.key, names.item, names.create, names.update, names.filter].map((name): readonly [string, string] => [
      name,
      `./${names.file}.ts`,
    ]),
  );
  return {
    collections: new Map(api.collections.map((one) => [one.descriptor.name, one])),
    typeFiles: new Map(typeFiles),
  };
}

/** Prints the file of one collection's types, which nobody loads: what a server loads of it is in the file of its routes. */
export function emitCollection(
  collection: ApiCollection,
  index: CollectionIndex,
  render: Render,
  archive: Archive | null,
): string {
  const { collections, typeFiles } = index;
  const text = textOf(collection, [collections, typeFiles], archive, (watch) =>
    printCollection(collection, watch(collections), watch(typeFiles)),
  );
  return render('collection', { about: commentText(`Source: ${collection.source}.`), ...text });
}

const textOf = createModuleMemory('server collection');

function printCollection(
  collection: ApiCollection,
  collections: Lookup<ApiCollection>,
  typeFiles: Lookup<string>,
): ModuleText {
  const types = declareTypes(collection, collections);
  const names = types.flatMap(namesOf);
  const own = new Set(types.map(({ name }) => name));
  const used = names.filter((name) => !own.has(name));
  return {
    imports: printImports(importsOf(used, typeFiles)),
    declarations: printDeclarations(types, 'Record<string, never>'),
  };
}

function importsOf(names: readonly string[], typeFiles: Lookup<string>): readonly Import[] {
  const used = [...new Set(names)].sort();
  const runtime = used.filter((name) => runtimeTypes.has(name)).map((name) => `type ${name}`);
  const others = used.flatMap((name) => {
    const file = typeFiles.get(name);
    return file === undefined ? [] : [{ file, name: `type ${name}` }];
  });
  const files = [...Map.groupBy(others, ({ file }) => file)];
  return [
    { from: '@platform/runtime', names: runtime },
    ...files.map(([from, names]) => ({ from, names: names.map(({ name }) => name) })),
  ];
}

function namesOf(declaration: TypeDeclaration): readonly string[] {
  if (declaration.kind === 'interface') return declaration.members.flatMap(({ type }) => leaves(type));
  return leaves(declaration.type);
}
