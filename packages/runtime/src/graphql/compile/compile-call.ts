/** Root fields that call functions of the database. Source: API specification, section 14.2; docs/functions.md. */
import { type GraphQLObjectType, isObjectType } from 'graphql';
import type { Caller } from '../../caller.ts';
import { forbidden } from '../../errors.ts';
import { openArguments, type SentArguments } from '../../functions/arguments.ts';
import type { Callable } from '../../functions/service.ts';
import { type ArgumentDescriptor, type FunctionDescriptor, graphqlName, type JsonValue } from '../../language/index.ts';
import { parseExactly } from '../../language/values/parse-text.ts';
import type { PlannedRead } from '../../query/planner.ts';
import type { Returning, ReturningForm } from '../../write/returning.ts';
import type { PreparedCommand } from '../../write/write-command.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import { argumentTree, listSlot } from '../reads/list-read.ts';
import { compileProjection, setsOf, unknownName } from './compile-selection.ts';
import { type Input, inputValue, isJson, type Variables } from './input.ts';
import { restMembers } from './rest-names.ts';
import { type CompilingRoots, createItemsRead, givesObjects, type RootField, type RowSource } from './roots.ts';

/** A value or objects that a function gives. */
export interface CallSource {
  readonly kind: 'call';
  readonly plan: (variables: Variables, caller: Caller) => PlannedRead;
  /** Takes the value of the field from an answer, `{"data":…}`. */
  readonly encode: (bytes: Buffer) => Buffer;
}

/** Compiles the call of a function that only reads. */
export function compileCall(root: RootField, descriptor: FunctionDescriptor): RowSource | CallSource {
  const { to, inputs } = root;
  const call = callableOf(to, descriptor);
  const options = optionsOf(call, inputs);
  if (descriptor.returns.kind === 'items' && givesObjects(root)) return compileItems(root, call, options);
  return {
    kind: 'call',
    plan(variables, caller) {
      admit(to, call, caller);
      const tree = argumentTree(to.index, undefined, options, variables);
      return to.functions.read(caller, call, argumentsOf(call, inputs, variables), tree);
    },
    encode: encoderOf(root),
  };
}

/** Items of a collection, as the caller may read them. */
function compileItems(
  root: RootField<GraphQLObjectType>,
  call: Callable,
  options: ReadonlyMap<string, Input>,
): RowSource {
  const { to, field, inputs } = root;
  const { returns } = call.descriptor;
  const collection = to.scope.collections.get(returns.kind === 'items' ? returns.collection : '');
  if (collection === undefined || returns.kind !== 'items') throw unknownName(field.name);
  const many = returns.many === true;
  const prepare = createItemsRead(root, {
    ...{ selector: 'list', many, top: many ? listSlot(to, collection, undefined, options) : undefined },
    source: {
      inputs: [...inputs.values()],
      read: (variables) => to.functions.source(call, argumentsOf(call, inputs, variables)),
    },
  });
  const called = (caller: Caller): void => admit(to, call, caller);
  return { kind: 'rows', key: field.key, collection: returns.collection, prepare, keys: null, called };
}

/** Compiles the call of any other function; `returning` reads the items that it gives. */
export function compileWritingCall(
  root: RootField,
  descriptor: FunctionDescriptor,
  returningOf: (options: ReadonlyMap<string, Input>) => Reader | null,
) {
  const { to, inputs } = root;
  const call = callableOf(to, descriptor);
  const { returns } = descriptor;
  const read = returns.kind === 'items' && givesObjects(root) ? returningOf(optionsOf(call, inputs)) : null;
  const encode = encoderOf(root);
  const nothing = Buffer.from(returns.kind === 'items' && returns.many === true && read !== null ? '[]' : 'null');
  return {
    ask(variables: Variables, { caller, sender }: Pick<WriteRequest, 'caller' | 'sender'>): PreparedCommand {
      admit(to, call, caller);
      const reading = read?.(variables);
      const returning = (form: ReturningForm): Returning | null => reading?.(form, caller) ?? null;
      const collection = `functions/${descriptor.name}`;
      const request: WriteRequest = { caller, sender, collection, query: '', returning };
      return { prepare: () => to.functions.write(request, call, argumentsOf(call, inputs, variables)) };
    },
    encode(bytes: Buffer | null): Buffer {
      if (returns.kind === 'nothing' || (returns.kind === 'items' && read === null)) return Buffer.from('true');
      if (bytes === null) return nothing;
      return returns.kind === 'items' ? bytes.subarray(dataText, -1) : encode(bytes);
    },
  };
}

/** Reads what was written, in a form, for a caller. */
type Reader = (variables: Variables) => (form: ReturningForm, caller: Caller) => Returning;

const dataText = '{"data":'.length;

/** A value stands as it is; of objects the selected members are taken. */
function encoderOf({ to, field, type }: RootField): CallSource['encode'] {
  if (!isObjectType(type)) return (bytes) => bytes.subarray(dataText, -1);
  const project = compileProjection(to, type, setsOf(field));
  return (bytes) =>
    Buffer.from(JSON.stringify(project(parseExactly(bytes.toString('utf8', dataText, bytes.length - 1)))));
}

/** The function as the class of the document may call it, where the caller has the values that it is called with. */
function callableOf({ functions, accessClass }: CompilingRoots, { name }: FunctionDescriptor): Callable {
  const found = functions.find({ accessClass, user: '', role: '' }, name);
  if (found === undefined) throw unknownName(name);
  return found;
}

/** Throws FORBIDDEN for a caller without the user or the role that a value of the call is taken from. */
function admit({ functions }: CompilingRoots, { descriptor }: Callable, caller: Caller): void {
  if (functions.find(caller, descriptor.name) === undefined) throw forbidden();
}

function namesOf({ descriptor, access }: Callable): ReadonlyMap<string, ArgumentDescriptor> {
  return new Map(openArguments(descriptor, access).map((argument) => [graphqlName(argument.name), argument]));
}

/** Arguments of the field that the function does not take. */
function optionsOf(call: Callable, inputs: ReadonlyMap<string, Input>): ReadonlyMap<string, Input> {
  const names = namesOf(call);
  return new Map([...inputs].filter(([name]) => !names.has(name)));
}

function argumentsOf(call: Callable, inputs: ReadonlyMap<string, Input>, variables: Variables): SentArguments {
  const values = new Map<string, JsonValue>();
  for (const [graphql, { name, attributes }] of namesOf(call)) {
    const input = inputs.get(graphql);
    const value = input === undefined ? undefined : inputValue(input, variables);
    if (isJson(value)) values.set(name, restMembers(attributes, value));
  }
  return { values, text: false };
}
