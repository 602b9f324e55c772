/** Queries: the read of each root field. Source: API specification, section 14.2. */
import { type FieldNode, type GraphQLObjectType, getNamedType, isNonNullType } from 'graphql';
import type { Caller } from '../../caller.ts';
import { forbidden, PlatformError } from '../../errors.ts';
import { callerCollections } from '../../language/conditions/caller-path.ts';
import type { GraphqlRoot, GraphqlService, JsonValue } from '../../language/index.ts';
import { itemMutations } from '../../language/operations/index.ts';
import { decodePart, decodePathKey } from '../../query/parse/keys.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import { compileConnection, createConnections } from '../connections.ts';
import { compileAggregate, createAggregate } from '../reads/aggregate-read.ts';
import { listSlot } from '../reads/list-read.ts';
import { type CollectedField, collectFields } from './collect.ts';
import { type CallSource, compileCall } from './compile-call.ts';
import {
  type Compiling,
  compileProjection,
  compileSelection,
  constantOf,
  setsOf,
  unknownName,
  unknownPart,
} from './compile-selection.ts';
import { compileArguments, type Input, inputValue, type Variables } from './input.ts';
import { type CompilingRoots, createRootRead, givesObjects, type RootField, type RowSource } from './roots.ts';

export interface QueryField {
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  /** True if a failure makes only the field null, and not the whole data. */
  readonly nullable: boolean;
  readonly source: QuerySource;
}

type QuerySource =
  | { readonly kind: 'constant'; readonly json: string }
  | { readonly kind: 'introspection' }
  /** An error that does not depend on variables. */
  | { readonly kind: 'failure'; readonly error: PlatformError }
  | RowSource
  | CallSource
  | { readonly kind: 'service'; readonly field: ServiceField };

/** A root field that is no collection's. */
export interface ServiceField {
  readonly service: GraphqlService;
  readonly arguments: ReadonlyMap<string, Input>;
  /** Prints the document's selection from the value, as JSON. */
  readonly encode: (value: JsonValue) => Buffer;
  /** Reads the item whose key the answer is, in its place. */
  readonly itemOf?: (key: string) => RowSource;
  /** Reads what was written, as the document selects it; then what the route answers with is told as it is. */
  readonly returning?: (variables: Variables, caller: Caller) => NonNullable<WriteRequest['returning']>;
}

export function compileQuery(
  to: CompilingRoots,
  type: GraphQLObjectType,
  sets: Parameters<typeof collectFields>[2],
): readonly QueryField[] {
  return collectFields(to, type, sets).map((field) => {
    const { key, nodes } = field;
    const declared = type.getFields()[field.name];
    return { key, nodes, nullable: !isNonNullType(declared?.type), source: compileSource(to, type, field) };
  });
}

function compileSource(to: CompilingRoots, type: GraphQLObjectType, field: CollectedField): QuerySource {
  if (field.name === '__schema' || field.name === '__type') return { kind: 'introspection' };
  const root = to.roots.get(field.name);
  if (root === undefined) return constantOf(type, field) ?? unknownPart(field);
  try {
    return compileRoot(to, type, root, field);
  } catch (error) {
    if (error instanceof PlatformError) return { kind: 'failure', error };
    throw error;
  }
}

function compileRoot(
  to: CompilingRoots,
  type: GraphQLObjectType,
  root: GraphqlRoot,
  field: CollectedField,
): QuerySource {
  const declared = type.getFields()[field.name];
  if (declared === undefined) return unknownPart(field);
  const inputs = compileArguments(field.nodes[0], declared.args);
  const compiled: RootField = { to, field, inputs, type: getNamedType(declared.type) };
  if (root.operation === 'function') return compileCall(compiled, root.function);
  // A caller who may read nothing of users gets their own key.
  if (root.operation === 'service' && !(root.service === 'users_me' && to.scope.collections.has(users))) {
    return { kind: 'service', field: serviceField(compiled, root.service) };
  }
  if (!givesObjects(compiled)) return unknownPart(field);
  if (root.operation === 'service') return compileItem(compiled, users, ownKey);
  const { operation, collection } = root;
  if (operation === 'aggregate') return compileAggregated(compiled, collection.name);
  if (operation === 'connection') return compileConnected(compiled, collection.name);
  if (operation !== 'byKey') return compileList(compiled, collection.name, operation === 'list');
  const id = inputs.get('id');
  return compileItem(compiled, collection.name, (target, variables) =>
    keyOf(target, id === undefined ? undefined : inputValue(id, variables)),
  );
}

const users = callerCollections.user;

export function serviceField(root: RootField, service: GraphqlService): ServiceField {
  const { to, field, inputs } = root;
  const { item: name, byKey = false } = itemMutations.get(service) ?? {};
  if (byKey && name !== undefined && givesObjects(root)) {
    const collection = collectionOf(to, name);
    const item = compileItem(root, name, () => []);
    const itemOf = (key: string): RowSource => ({ ...item, keys: () => keyOf(collection, key) });
    return { service, arguments: inputs, encode: (value) => Buffer.from(JSON.stringify(value)), itemOf };
  }
  const project = compileProjection(to, root.type, setsOf(field));
  return { service, arguments: inputs, encode: (value) => Buffer.from(JSON.stringify(project(value))) };
}

function compileList(root: RootField<GraphQLObjectType>, name: string, many: boolean): RowSource {
  const { to, field, inputs, type } = root;
  const lists: Compiling['lists'] = [];
  const top = listSlot(to, collectionOf(to, name), undefined, inputs);
  const selection = compileSelection({ ...to, lists }, type, setsOf(field));
  const prepare = createRootRead(root, { selector: 'list', many, selection, top, lists });
  return { kind: 'rows', key: field.key, collection: name, prepare, keys: null };
}

function compileConnected(root: RootField<GraphQLObjectType>, name: string): RowSource {
  const { to, field, inputs, type } = root;
  const collection = collectionOf(to, name);
  const lists: Compiling['lists'] = [];
  const top = listSlot(to, collection, undefined, inputs, true);
  const { items, parts } = compileConnection({ ...to, lists }, collection, type, setsOf(field));
  const counted = parts.some(({ kind }) => kind === 'count') && ({ counted: true } as const);
  const prepare = createRootRead(root, { selector: 'list', many: true, selection: items, top, lists, ...counted });
  return { kind: 'rows', key: field.key, collection: name, prepare, keys: null, collect: createConnections(parts) };
}

function compileItem(
  root: RootField<GraphQLObjectType>,
  name: string,
  keyOf: (collection: CollectionScope, variables: Variables, caller: Caller) => readonly string[],
): RowSource {
  const { to, field, type } = root;
  const collection = collectionOf(to, name);
  const lists: Compiling['lists'] = [];
  const selection = compileSelection({ ...to, lists }, type, setsOf(field));
  const prepare = createRootRead(root, { selector: 'key', many: false, selection, top: undefined, lists });
  const keys: RowSource['keys'] = (variables, caller) => keyOf(collection, variables, caller);
  return { kind: 'rows', key: field.key, collection: name, prepare, keys };
}

function compileAggregated({ to, field, inputs, type }: RootField<GraphQLObjectType>, name: string): RowSource {
  const collection = collectionOf(to, name);
  const names = to.index.byName(name);
  if (names === undefined) return unknownPart(field);
  const selection = compileAggregate({ ...to, lists: [] }, names, collection, type, setsOf(field));
  const prepare = createAggregate(to, `${to.name} ${field.key}`, { collection, selection, arguments: inputs });
  return { kind: 'rows', key: field.key, collection: name, prepare, keys: null };
}

function collectionOf({ scope }: CompilingRoots, name: string): CollectionScope {
  const collection = scope.collections.get(name);
  if (collection === undefined) throw unknownName(name);
  return collection;
}

/** The values of a key as `ID` writes it. Throws FORBIDDEN for what cannot be a key. */
export function keyOf(collection: CollectionScope, id: unknown): readonly string[] {
  if (typeof id !== 'string') throw forbidden();
  return decodePathKey(collection, collection.descriptor.key.length > 1 ? id.split(',').map(decodePart) : [id]);
}

function ownKey(collection: CollectionScope, _: Variables, { user }: Caller): readonly string[] {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return keyOf(collection, user);
}
