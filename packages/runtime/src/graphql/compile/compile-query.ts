/** Queries: the read of each root field. Source: API specification, section 14.2. */
import type { GraphQLObjectType } from 'graphql';
import type { Caller } from '../../caller.ts';
import { forbidden, PlatformError } from '../../errors.ts';
import { callerCollections } from '../../language/conditions/caller-path.ts';
import type { GraphqlRoot, GraphqlService, JsonValue } from '../../language/index.ts';
import { itemMutations } from '../../language/operations/index.ts';
import { decodePart, decodePathKey } from '../../query/parse/keys.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import { compileConnection, createConnections } from '../connections.ts';
import { compileAggregate, prepareAggregated } from '../reads/aggregate-read.ts';
import { createRead, rememberReads } from '../reads/item-read.ts';
import { listSlot } from '../reads/list-read.ts';
import type { Sets } from './collect.ts';
import { type CallSource, compileCall } from './compile-call.ts';
import {
  type Compiling,
  compileProjection,
  constantOf,
  setsOf,
  unknownName,
  unknownPart,
} from './compile-selection.ts';
import { type Input, inputValue, type Variables } from './input.ts';
import {
  type CompiledField,
  type CompilingRoots,
  compileRoots,
  createItemsRead,
  type FixedSource,
  givesObjects,
  nameOf,
  type RootField,
  type RowSource,
} from './roots.ts';

export type QueryField = CompiledField<QuerySource | FixedSource>;

type QuerySource =
  | { readonly kind: 'introspection' }
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

export function compileQuery(to: CompilingRoots, type: GraphQLObjectType, sets: Sets): readonly QueryField[] {
  return compileRoots<QuerySource>(to, type, sets, compileRoot, (parent, field) =>
    field.name === '__schema' || field.name === '__type' ? { kind: 'introspection' } : constantOf(parent, field),
  );
}

function compileRoot(compiled: RootField, root: GraphqlRoot): QuerySource {
  const { to, field, inputs } = compiled;
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
  const { to, field, inputs } = root;
  const top = listSlot(to, collectionOf(to, name), undefined, inputs);
  const prepare = createItemsRead(root, { selector: 'list', many, top });
  return { kind: 'rows', key: field.key, collection: name, prepare, keys: null };
}

function compileConnected(root: RootField<GraphQLObjectType>, name: string): RowSource {
  const { to, field, inputs, type } = root;
  const collection = collectionOf(to, name);
  const lists: Compiling['lists'] = [];
  const top = listSlot(to, collection, undefined, inputs, true);
  const { items, parts } = compileConnection({ ...to, lists }, collection, type, setsOf(field));
  const counted = parts.some(({ kind }) => kind === 'count') && ({ counted: true } as const);
  const prepare = createRead(to, nameOf(root), {
    ...{ selector: 'list', many: true, selection: items, top, lists, ...counted },
  });
  return { kind: 'rows', key: field.key, collection: name, prepare, keys: null, collect: createConnections(parts) };
}

function compileItem(
  root: RootField<GraphQLObjectType>,
  name: string,
  keyOf: (collection: CollectionScope, variables: Variables, caller: Caller) => readonly string[],
): RowSource {
  const { to, field } = root;
  const collection = collectionOf(to, name);
  const prepare = createItemsRead(root, { selector: 'key', many: false, top: undefined });
  const keys: RowSource['keys'] = (variables, caller) => keyOf(collection, variables, caller);
  return { kind: 'rows', key: field.key, collection: name, prepare, keys };
}

function compileAggregated(root: RootField<GraphQLObjectType>, name: string): RowSource {
  const { to, field, inputs, type } = root;
  const collection = collectionOf(to, name);
  const names = to.index.byName(name);
  if (names === undefined) return unknownPart(field);
  const selection = compileAggregate({ ...to, lists: [] }, names, collection, type, setsOf(field));
  const plan = nameOf(root);
  const prepare = rememberReads(to.reads, plan, [...inputs.values()], (variables) =>
    prepareAggregated(to, plan, name, selection, inputs, variables),
  );
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
