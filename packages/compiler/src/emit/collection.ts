import type { Api, ApiCollection, ApiEnum } from '../api.ts';
import { createCache, type Lookup } from '../cache/remember.ts';
import { namesIn, printDeclarations, type TypeDeclaration } from '../print/declarations.ts';
import { importTypes, printImports } from '../print/imports.ts';
import { stringLiteral } from '../print/text.ts';
import { unionOfTexts } from '../print/type.ts';
import { declareTypes } from './collection-types.ts';
import { type ModuleText, type Render, renderModule } from './templates.ts';

/** Look-ups that every collection file needs, made once. */
interface CollectionIndex {
  readonly collections: ReadonlyMap<string, ApiCollection>;
  /** Names of types by the file that declares them, relative to its neighbours. */
  readonly typeFiles: ReadonlyMap<string, string>;
}

/** Indexes the collections of an API. */
export function indexCollections(api: Api): CollectionIndex {
  const typeFiles = api.collections.flatMap(({ names }) =>
    [names.key, names.item, names.create, names.update, names.filter].map((name): readonly [string, string] => [
      name,
      `./${names.file}.js`,
    ]),
  );
  return {
    collections: new Map(api.collections.map((collection) => [collection.descriptor.name, collection])),
    typeFiles: new Map([...typeFiles, ...(api.enums ?? []).map(({ name }) => [name, '../enums.js'] as const)]),
  };
}

/** Prints the types of one collection, which no process loads: the server loads the file of its routes. */
export function emitCollection(collection: ApiCollection, index: CollectionIndex, render: Render): string {
  const { collections, typeFiles } = index;
  const text = textOf(collection, [collections, typeFiles], (watch) =>
    printCollection(collection, watch(collections), watch(typeFiles)),
  );
  return renderModule(render, 'collection', `Source: ${collection.source}.`, text);
}

/** Prints the enum types that collections have. */
export function emitEnums(enums: readonly ApiEnum[], render: Render): string {
  const declarations = enums.map(({ name, source, labels }): TypeDeclaration => {
    const type = unionOfTexts(labels.map(stringLiteral));
    return { kind: 'alias', name, notes: [`Labels of \`${source}\`.`], type };
  });
  return renderModule(render, 'collection', 'Enum types of the database.', {
    imports: '',
    declarations: printDeclarations(declarations),
  });
}

const textOf = createCache<ModuleText>();

/** Types of the runtime that collection files may name. None ends in a suffix that a collection's own types have. */
const runtimeTypes: ReadonlySet<string> = new Set([
  'ArrayOperators',
  'BooleanOperators',
  'CollectionDescriptor',
  'EqualOperators',
  'FloatValue',
  'Geometry',
  'GeometryOperators',
  'JsonOperators',
  'JsonValue',
  'LinkTo',
  'ManyChanges',
  'ManyOperators',
  'NullOperators',
  'OrderOperators',
  'RangeOperators',
  'TextOperators',
  'VectorOperators',
]);

const libraries = [{ from: '@tablewright/runtime', types: runtimeTypes }];

function printCollection(
  collection: ApiCollection,
  collections: Lookup<ApiCollection>,
  typeFiles: Lookup<string>,
): ModuleText {
  const types = declareTypes(collection, collections);
  return {
    imports: printImports(importTypes(namesIn(types), libraries, typeFiles)),
    declarations: printDeclarations(types, 'Record<string, never>'),
  };
}
