import type { Api, ApiCollection } from '../api.ts';
import { type Declaration, printDeclarations } from '../print/declaration.ts';
import { type Import, printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { leaves } from '../print/type.ts';
import { declareTypes } from './collection-types.ts';
import { declareDescriptor } from './descriptor.ts';
import type { Collections } from './relation-types.ts';
import { runtimeTypes } from './runtime-names.ts';
import type { Render } from './templates.ts';

/** Look-ups that every collection file needs, made once. */
export interface CollectionIndex {
  readonly collections: Collections;
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

/** Prints the file of one collection: its types, and the descriptor that the runtime works with. */
export function emitCollection(collection: ApiCollection, index: CollectionIndex, render: Render): string {
  const declarations = [...declareTypes(collection, index.collections), declareDescriptor(collection)];
  return render('collection', {
    about: commentText(`Source: ${collection.source}.`),
    imports: printImports(importsOf(declarations, index.typeFiles)),
    declarations: printDeclarations(declarations),
  });
}

function importsOf(declarations: readonly Declaration[], typeFiles: CollectionIndex['typeFiles']): readonly Import[] {
  const own = new Set(declarations.map(({ name }) => name));
  const used = [...new Set(declarations.flatMap(typesOf))].filter((name) => !own.has(name)).sort();
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

function typesOf(declaration: Declaration): readonly string[] {
  if (declaration.kind === 'interface') return declaration.members.flatMap(({ type }) => leaves(type));
  return leaves(declaration.type);
}
