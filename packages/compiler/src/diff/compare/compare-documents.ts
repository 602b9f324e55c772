/** GraphQL documents of the project that a role asks: servers can be told to answer no others. */
import type { KnownOperation } from '@tablewright/runtime/language';
import type { Found } from '../side.ts';

/** An operation of such a document. */
export type ListedOperation = Pick<KnownOperation, 'name' | 'role' | 'scope' | 'hash'>;

/** Those of both versions, as their `graphql/operations.json` lists them. */
export interface OperationsOfBoth {
  readonly before: readonly ListedOperation[];
  readonly after: readonly ListedOperation[];
}

/** Compares the operations of one role by their names. */
export function compareDocuments(role: string, { before, after }: OperationsOfBoth): readonly Found[] {
  const [was, is] = [operationsOf(role, before), operationsOf(role, after)];
  const gone = [...was.keys()].filter((name) => !is.has(name));
  return [
    ...gone.map((name) => found('document-removed', name, `"${name}" is no document of the project any more.`)),
    ...[...is].flatMap(([name, hash]) => {
      const previous = was.get(name);
      if (previous === undefined) return [found('document-added', name, `"${name}" is a document of the project.`)];
      return previous === hash ? [] : [found('document-changed', name, `The text of "${name}" has changed.`)];
    }),
  ];
}

/** Hashes by name; the name tells the scope where it is not that of items. */
function operationsOf(role: string, operations: readonly ListedOperation[]): ReadonlyMap<string, string> {
  const requested = operations.filter((operation) => operation.role === role);
  return new Map(requested.map(({ name, scope, hash }) => [scope === 'system' ? `${name} (system)` : name, hash]));
}

function found(rule: Found['rule'], name: string, message: string): Found {
  return { rule, subject: `document ${name}`, message, operations: [] };
}
