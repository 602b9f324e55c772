/** Collections as the files of a client print them, and the names of their types: words as in the OpenAPI document of the class. */
import { type AccessClass, type CollectionDescriptor, isAlways } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFactsOfNames, createInterning } from '../cache/same.ts';
import { fileName, shortened, uniqueNames } from '../print/identifier.ts';
import type { LibraryTypes } from '../print/imports.ts';
import type { DocumentNames } from '../role-view/names.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';

export interface ClientCollection {
  readonly view: RoleCollection;
  readonly names: ClientNames;
  readonly descriptor: CollectionDescriptor;
  /** True if the class can read every item that it writes, independent of values. */
  readonly echoes: boolean;
}

/** The collections of a client by API name, in the order of the Api. */
export type ClientCollections = ReadonlyMap<string, ClientCollection>;

/** Collections that the types of one collection may refer to. */
export type Referables = Lookup<ClientCollection>;

const internCollection = createInterning<ClientCollection>();

export function clientCollectionsOf(api: Api, access: AccessClass, view: RoleView): ClientCollections {
  const names = nameClient(view);
  const descriptors = new Map(api.collections.map(({ descriptor }) => [descriptor.name, descriptor]));
  const rules = new Map(access.collections.map((granted) => [granted.collection, granted.read ?? []]));
  return new Map(
    view.collections.flatMap((collection): readonly (readonly [string, ClientCollection])[] => {
      const descriptor = descriptors.get(collection.name);
      const collectionNames = names.get(collection.name);
      if (descriptor === undefined || collectionNames === undefined) return [];
      const everyRow = access.admin || (rules.get(collection.name) ?? []).some(({ where }) => isAlways(where));
      // Views and triggers decide by themselves what is there after a write.
      const echoes = collection.readable && everyRow && !descriptor.opaque && !descriptor.amended;
      return [
        [
          collection.name,
          internCollection(collection, { view: collection, names: collectionNames, descriptor, echoes }),
        ],
      ];
    }),
  );
}

export interface ClientNames
  extends Pick<DocumentNames, 'collection' | 'item' | 'filter' | 'create' | 'update' | 'change'> {
  /** File without folder and extension, unique also where case does not count. */
  readonly file: string;
  /** `OrderLinesRelations` */
  readonly relations: string;
  /** `OrderLinesFunctions` */
  readonly functions: string;
  /** `OrderLinesKey` */
  readonly key: string;
  /** `OrderLinesFacts` */
  readonly facts: string;
}

type Named = Pick<RoleCollection, 'name' | 'names'>;

/** Names what a class sees. They depend on nothing else. */
export function nameClient({
  collections,
}: {
  readonly collections: readonly Named[];
}): ReadonlyMap<string, ClientNames> {
  const all = collections.map(({ name }) => name);
  // They follow from the names in documents, which follow from the names of all that is seen.
  return namesOfAll(all, () => findNames(all, collections));
}

const namesOfAll = createFactsOfNames<ReadonlyMap<string, ClientNames>>();

function findNames(all: readonly string[], collections: readonly Named[]): ReadonlyMap<string, ClientNames> {
  const files = uniqueNames(all, fileName, (spelling) => spelling.toLowerCase());
  return new Map(
    collections.map(({ name, names }) => {
      const spelling = shortened(names.spelling, name);
      const collectionNames = {
        collection: name,
        item: typeName(spelling, 'Item'),
        filter: typeName(spelling, 'Filter'),
        create: typeName(spelling, 'Create'),
        update: typeName(spelling, 'Update'),
        change: typeName(spelling, 'Change'),
        file: files.get(name) ?? name,
        relations: typeName(spelling, 'Relations'),
        functions: typeName(spelling, 'Functions'),
        key: typeName(spelling, 'Key'),
        facts: typeName(spelling, 'Facts'),
      };
      return [name, collectionNames];
    }),
  );
}

/** `OrderLinesItem`, as in the generated server; with an underscore where the library has a type of that name. */
function typeName(spelling: string, suffix: string): string {
  const name = `${spelling}${suffix}`;
  return libraries.some(({ types }) => types.has(name)) ? `${name}_` : name;
}

/** Types of `@tablewright/client/typed` that files of collections may name. A collection's own type of such a name ends in `_`. */
export const libraryTypes: ReadonlySet<string> = new Set([
  'ArrayOperators',
  'ArrayValue',
  'BooleanOperators',
  'Call',
  'Changes',
  'CompositeOperators',
  'EqualOperators',
  'FloatValue',
  'Geometry',
  'GeometryOperators',
  'Given',
  'JsonOperators',
  'JsonValue',
  'LinkFilter',
  'LinkTo',
  'Links',
  'Many',
  'ManyOperators',
  'NamedFilter',
  'NullOperators',
  'NumberFilter',
  'One',
  'OrderOperators',
  'RangeOperators',
  'TextOperators',
  'VectorOperators',
]);

export const indexLibraries: readonly LibraryTypes[] = [
  {
    from: '@tablewright/client',
    types: new Set([
      'AssetsHandler',
      'AuthHandler',
      'ClientOptions',
      'FieldsHandler',
      'GraphqlHandler',
      'ItemHandler',
      'JsonObject',
      'RelationsHandler',
      'ServerHandler',
      'UtilsHandler',
    ]),
  },
  {
    from: '@tablewright/client/typed',
    types: new Set([
      'ArrayValue',
      'CallFunction',
      'CallRoute',
      'Collection',
      'FloatValue',
      'Geometry',
      'Handler',
      'ItemsCall',
      'JsonValue',
      'Methods',
      'OwnKey',
      'OwnUser',
      'Route',
      'ValueCall',
      'WithComments',
      'WithUploads',
    ]),
  },
];

const libraries = [{ types: libraryTypes }, ...indexLibraries];
