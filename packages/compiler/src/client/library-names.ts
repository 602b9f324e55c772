import type { LibraryTypes } from '../print/imports.ts';

/** Types of `@tablewright/client/typed` that files of collections may name. A collection's own type of such a name ends in `_`. */
export const libraryTypes: ReadonlySet<string> = new Set([
  'ArrayOperators',
  'BooleanOperators',
  'Call',
  'Changes',
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

/** Types that the index of a client may name. */
export const indexLibraries: readonly LibraryTypes[] = [
  {
    from: '@tablewright/client',
    types: new Set([
      'AssetsHandler',
      'AuthHandler',
      'ClientOptions',
      'GraphqlHandler',
      'ServerHandler',
      'UtilsHandler',
    ]),
  },
  {
    from: '@tablewright/client/typed',
    types: new Set([
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
