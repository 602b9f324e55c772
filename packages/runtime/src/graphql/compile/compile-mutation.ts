/** Mutations: the write of each root field, and how its answer is read. Source: API specification, section 14.2. */
import type { GraphQLObjectType } from 'graphql';
import type { Caller } from '../../caller.ts';
import { runAs } from '../../database/row-context.ts';
import { forbidden, PlatformError } from '../../errors.ts';
import { checkContents } from '../../json/body.ts';
import type { GraphqlOperation, GraphqlRoot, GraphqlService, JsonValue } from '../../language/index.ts';
import { itemMutations } from '../../language/operations/index.ts';
import { bodyKey } from '../../query/parse/keys.ts';
import { bind } from '../../query/planner.ts';
import { asMany } from '../../write/decode/keys.ts';
import type { Returning, ReturningForm } from '../../write/returning.ts';
import type { PreparedCommand, WriteCommand } from '../../write/write-command.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import type { PrepareRead } from '../reads/item-read.ts';
import { listSlot } from '../reads/list-read.ts';
import { collectFields, type Sets } from './collect.ts';
import { compileWritingCall } from './compile-call.ts';
import { keyOf, type ServiceField, serviceField } from './compile-query.ts';
import { constantOf, setsOf, unknownName } from './compile-selection.ts';
import { type Input, inputValue, isJson, type Variables } from './input.ts';
import { restPayload } from './rest-names.ts';
import {
  type CompiledField,
  type CompilingRoots,
  compileRoots,
  createItemsRead,
  type FixedSource,
  givesObjects,
  type RootField,
} from './roots.ts';

export type MutationField = CompiledField<MutationSource | FixedSource>;

/** Action of a root field. */
type MutationSource = WriteSource | { readonly kind: 'service'; readonly field: ServiceField };

export interface WriteSource {
  readonly kind: 'write';
  readonly ask: (variables: Variables, request: Requested) => WriteCommand | PreparedCommand;
  /** Builds the field's part of the response from the answer of the write. */
  readonly encode: (result: Buffer | null, variables: Variables) => Buffer;
}

/** The part of a write that its request brings along. */
type Requested = Pick<WriteRequest, 'caller' | 'sender'>;

export function compileMutation(to: CompilingRoots, type: GraphQLObjectType, sets: Sets): readonly MutationField[] {
  return compileRoots<MutationSource>(to, type, sets, compileRoot);
}

function compileRoot(compiled: RootField, root: GraphqlRoot): MutationSource {
  const { to, inputs } = compiled;
  if (root.operation === 'service' && root.service !== 'update_users_me') {
    return { kind: 'service', field: compileService(compiled, root.service) };
  }
  if (root.operation === 'function') {
    const { returns } = root.function;
    const call = compileWritingCall(compiled, root.function, (options) => {
      if (returns.kind !== 'items' || !givesObjects(compiled)) return null;
      const operation = returns.many === true ? 'createMany' : 'createOne';
      const written = { collection: returns.collection, operation, own: false, inputs: options } as const;
      const read = compileReturning(compiled, written);
      return (variables) => {
        const prepared = read(variables);
        return (form, caller) => returningFor(prepared, form, caller);
      };
    });
    return { kind: 'write', ...call };
  }
  const isOwn = root.operation === 'service';
  const written: Written = {
    collection: isOwn ? 'platform_users' : root.collection.name,
    operation: isOwn ? 'updateOne' : root.operation,
    own: isOwn,
    inputs,
  };
  if (!givesObjects(compiled)) return compileWrite(to, written, null, () => trueText);
  if (written.operation === 'deleteOne')
    return compileWrite(to, written, null, compileDeleted(compiled, inputs.get('id')));
  if (written.operation === 'deleteMany') {
    return compileWrite(to, written, null, compileDeleted(compiled, inputs.get('ids')));
  }
  const many = manyOf(written.operation);
  return compileWrite(to, written, compileReturning(compiled, written), (result) => {
    // The answer of a write stands in {"data":…}.
    return result === null ? (many ? noItems : nullText) : result.subarray(dataText, -1);
  });
}

/** An operation that writes an item answers it as a write does. */
function compileService(root: RootField, service: GraphqlService): ServiceField {
  const { item: collection, byKey = false } = itemMutations.get(service) ?? {};
  if (collection === undefined || byKey || !givesObjects(root)) return serviceField(root, service);
  const read = compileReturning(root, { collection, operation: 'createOne', own: false, inputs: new Map() });
  return {
    service,
    arguments: root.inputs,
    encode: (value) => Buffer.from(JSON.stringify(value)),
    returning(variables, caller) {
      const prepared = read(variables);
      return (form) => returningFor(prepared, form, caller);
    },
  };
}

const trueText = Buffer.from('true');
const nullText = Buffer.from('null');
const noItems = Buffer.from('[]');
const dataText = '{"data":'.length;

/** A root field that writes a collection. */
interface Written {
  readonly collection: string;
  readonly operation: GraphqlOperation;
  /** True if the item is the calling user. */
  readonly own: boolean;
  readonly inputs: ReadonlyMap<string, Input>;
}

function manyOf(operation: GraphqlOperation): boolean {
  return operation === 'createMany' || operation === 'updateMany' || operation === 'updateBatch';
}

/** The read of what was written, as the document selects it. */
function compileReturning(
  root: RootField<GraphQLObjectType>,
  { collection: name, operation, inputs }: Written,
): PrepareRead {
  const { to } = root;
  const collection = to.scope.collections.get(name);
  if (collection === undefined) throw unknownName(name);
  const many = manyOf(operation);
  // Everything that was written is answered, unless the document wants less.
  const whole = { ...to, limits: { ...to.limits, defaultLimit: -1 } };
  const arguments_ = new Map([...inputs].filter(([argument]) => !['id', 'ids', 'data'].includes(argument)));
  const top = many ? listSlot(whole, collection, undefined, arguments_) : undefined;
  const selector = many || operation === 'updateSingleton' ? 'written' : 'key';
  return createItemsRead(root, { selector, many, top, whole });
}

function compileWrite(
  to: CompilingRoots,
  written: Written,
  read: PrepareRead | null,
  respond: WriteSource['encode'],
): WriteSource {
  return {
    kind: 'write',
    encode: respond,
    ask(variables, { caller, sender }) {
      const prepared = read === null ? null : read(variables);
      const returning = (form: ReturningForm): Returning | null => prepared && returningFor(prepared, form, caller);
      const request: WriteRequest = { caller, sender, collection: written.collection, query: '', returning };
      return { ...actionOf(to, written, variables, caller), request };
    },
  };
}

function returningFor(
  { plan, values, bounds }: ReturnType<PrepareRead>,
  form: ReturningForm,
  caller: Caller,
): Returning {
  return {
    plan,
    statement: runAs(plan.statement, caller),
    many: form === 'many',
    bare: values.length === 0 && bounds.length === 0,
    parameters(keys) {
      const named = form === 'one' ? keys.values : asMany(keys).values;
      return bind(plan.binders, [...values, ...named, ...bounds], caller);
    },
  };
}

function actionOf(
  to: CompilingRoots,
  { collection, operation, own: isOwn, inputs }: Written,
  variables: Variables,
  caller: Caller,
): Omit<WriteCommand, 'request'> {
  const names = to.index.byName(collection);
  const value = (name: string): JsonValue => {
    const input = inputs.get(name);
    const found = input === undefined ? null : inputValue(input, variables);
    return isJson(found) ? found : null;
  };
  const data = (): JsonValue => {
    const payload = value('data');
    checkContents([payload]);
    return Array.isArray(payload)
      ? payload.map((element) => restPayload(to.index, names, element))
      : restPayload(to.index, names, payload);
  };
  const list = (): JsonValue => {
    const items = data();
    if (Array.isArray(items)) return items;
    throw new PlatformError('INVALID_PAYLOAD', '"data" must be a list of objects.');
  };
  const item = (): string => (isOwn ? ownSegment(caller) : segmentOf(to, collection, value('id')));
  const ids = (): JsonValue => {
    const listed = value('ids');
    const keyed = to.open.collections.get(collection);
    if (keyed === undefined || !Array.isArray(listed)) return listed;
    return listed.map((id: JsonValue) => (typeof id === 'string' ? bodyKey(keyed, id) : id));
  };
  switch (operation) {
    case 'createOne':
      return { action: 'create', body: data() };
    case 'createMany':
      return { action: 'create', body: list() };
    case 'updateOne':
      return { action: 'update', item: item(), body: data() };
    case 'updateMany':
      return { action: 'update', body: { keys: ids(), data: data() } };
    case 'updateBatch':
      return { action: 'update', body: list() };
    case 'updateSingleton':
      return { action: 'update', singleton: true, body: data() };
    case 'deleteOne':
      return { action: 'delete', item: item(), body: undefined };
    default:
      return { action: 'delete', body: ids() };
  }
}

/** A key as the segment of a path. Throws FORBIDDEN for what cannot be a key. */
function segmentOf({ open }: CompilingRoots, name: string, id: JsonValue): string {
  const collection = open.collections.get(name);
  if (collection === undefined || typeof id !== 'string') throw forbidden();
  keyOf(collection, id);
  return collection.descriptor.key.length > 1 ? id : encodeURIComponent(id);
}

function ownSegment({ user }: Caller): string {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return encodeURIComponent(user);
}

/** Builds the response for removed items: their keys, as they were given. */
function compileDeleted(
  { to, field, type }: RootField<GraphQLObjectType>,
  named: Input | undefined,
): WriteSource['encode'] {
  const parts = collectFields(to, type, setsOf(field)).map((inner) => ({
    key: inner.key,
    constant: constantOf(type, inner),
  }));
  return (_, variables) => {
    const keys = named === undefined ? null : inputValue(named, variables);
    const members = parts.map(({ key, constant }) => {
      return `${JSON.stringify(key)}:${constant === undefined ? JSON.stringify(keys) : constant.json}`;
    });
    return Buffer.from(`{${members.join(',')}}`);
  };
}
