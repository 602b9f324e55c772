/** Operations of the platform, with the ways to call each. */
import {
  type NamedOperation,
  type OperationAccess,
  operations,
} from '../../packages/runtime/src/language/operations/index.ts';
import { code, table } from './markdown.ts';

/** Every operation with its route, its root field of GraphQL, its method of the client, and its callers. */
export function printOperations(): string {
  return table(
    ['Route', 'GraphQL', 'Client', 'Callers', 'Purpose'],
    operations.map((operation) => [
      code(operation.route),
      code(fieldOf(operation)),
      code(operation.client?.replace(/\(.*/, '') ?? ''),
      printCallers(operation.access),
      `${operation.summary}. ${operation.description}`,
    ]),
  );
}

function fieldOf({ graphql: { query, mutation } = {} }: NamedOperation): string {
  return query ?? mutation ?? '';
}

const callers: Readonly<Record<Extract<OperationAccess, string>, string>> = {
  unchecked: 'everybody, without a token',
  anyone: 'everybody',
  'signed-in': 'signed in',
  'own-user': 'users',
  administrator: 'administrators',
};

function printCallers(access: OperationAccess): string {
  if (typeof access === 'string') return callers[access];
  const { action, collection, fields = [] } = access;
  return `${action} on ${[code(collection), ...fields.map(code)].join(', ')}`;
}
