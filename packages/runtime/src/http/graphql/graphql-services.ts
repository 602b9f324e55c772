/** Root fields of GraphQL that are no collection's: operations, run as over REST. Source: specification, 14.3. */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../errors.ts';
import type { ServiceField } from '../../graphql/compile/compile-query.ts';
import { inputValue, isJson, type Variables } from '../../graphql/compile/input.ts';
import type { OperationCall } from '../../graphql/documents/operation.ts';
import type { QuerySetting } from '../../graphql/run-query.ts';
import type { JsonValue } from '../../language/index.ts';
import { listMembers, type NamedOperation } from '../../language/operations/index.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { BoundOperation, OperationResult, Values } from '../operations/bind.ts';

export interface GraphqlServicesOptions {
  /** Null where the schema may not be asked for. */
  readonly printSchema: ((accessClass: string, scope: 'items' | 'system') => Promise<string>) | null;
  readonly bound: readonly BoundOperation[];
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Makes what gives the value of a root field. It rejects with the error of the operation. */
export function createGraphqlServices({
  printSchema,
  bound,
  senderOf,
}: GraphqlServicesOptions): QuerySetting['service'] {
  const operations = new Map(bound.map((callable) => [fieldOf(callable.operation), callable]));
  return async function callService(field, call) {
    const { service, encode: report } = field;
    const { caller, request, variables, key } = call;
    const input = argumentsOf(field, variables);
    if (service === 'users_me' || service === 'update_users_me') return { json: report(ownUser(call)), headers: [] };
    if (service === 'server_specs_graphql' && printSchema !== null) {
      const scope = input.scope === 'system' ? 'system' : 'items';
      return { json: report(await printSchema(caller.accessClass, scope)), headers: [] };
    }
    const callable = operations.get(service);
    if (callable === undefined) throw new PlatformError('ROUTE_NOT_FOUND');
    const returned = field.returning?.(variables, caller);
    const context = {
      ...{ caller, request, sender: senderOf(request), query: '' },
      ...(returned && { returning: returned }),
      // Other documents read other parts of an answer, so the key stands for the document.
      ...(key && { key: { text: key.text, path: 'graphql/system', payload: key.body } }),
    };
    const { operation } = callable;
    const result = await callable.run(() => valuesOf(operation, input), context);
    result.afterwards?.();
    return { json: jsonOf(operation, input, result, field), headers: result.headers ?? [] };
  };
}

function fieldOf({ graphql: { query, mutation } = {} }: NamedOperation): string | undefined {
  return query ?? mutation;
}

function valuesOf({ input = {}, body, graphql }: NamedOperation, args: Values): Values {
  const inputs = listMembers(input).flatMap(({ name, schema: { argument = name } }) =>
    args[argument] === undefined ? [] : [[name, args[argument]] as const],
  );
  if (body === undefined) return Object.fromEntries(inputs);
  const names = new Set(listMembers(input).map(({ name, schema: { argument = name } }) => argument));
  const others = Object.fromEntries(Object.entries(args).filter(([name]) => !names.has(name)));
  return { ...Object.fromEntries(inputs), body: graphql?.body === undefined ? others : (others[graphql.body] ?? {}) };
}

/** Length of the text in front of the value of an answer. */
const dataText = '{"data":'.length;

/** The value of a field. An empty answer is null in place of fields of an item, else true or the inputs that name it. */
function jsonOf(
  { input = {}, output, graphql }: NamedOperation,
  args: Values,
  { value }: OperationResult<JsonValue | undefined>,
  { encode: report, returning: returned }: ServiceField,
): Buffer {
  if (Buffer.isBuffer(value)) {
    // An answer that was read as the document selects it is passed on byte by byte.
    if (returned !== undefined) return value.subarray(dataText, -1);
    const response: JsonValue & { readonly data?: JsonValue } = JSON.parse(value.toString('utf8'));
    return report(output.data === undefined ? response : (response.data ?? null));
  }
  if (graphql?.value !== undefined) {
    const names = listMembers(input).filter(({ name }) => graphql.value?.includes(name));
    return report(
      Object.fromEntries(names.map(({ name, schema: { argument = name } }) => [argument, args[argument] ?? null])),
    );
  }
  if (output.item !== undefined) return report(typeof value === 'string' ? Number(value) : returned ? null : true);
  return report(value ?? (graphql?.type === 'Void' ? null : true));
}

function ownUser({ caller: { user } }: OperationCall): JsonValue {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return { id: user };
}

/** Arguments that are null are as those that are not there. */
function argumentsOf(field: ServiceField, variables: Variables): Values {
  const entries = [...field.arguments].flatMap(([name, input]) => {
    const value = inputValue(input, variables);
    return value !== undefined && value !== null && isJson(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}
