/** Types of the runtime that collection files may name. None ends in a suffix that a collection's own types have. */
export const runtimeTypes: ReadonlySet<string> = new Set([
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
]);
