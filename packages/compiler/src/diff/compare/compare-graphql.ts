/** GraphQL as a role asks it: items in the place of their keys, and documents of the project. */

import type { KnownOperation } from '@tablewright/runtime/language';
import { type GraphqlCollection, graphqlCollectionsOf } from '../../graphql/graphql-collections.ts';
import type { RoleCollection, RoleInput } from '../../role-view/role-view.ts';
import type { RenameIndex } from '../renames.ts';
import { type Found, operationsIn, pairs, type Side } from '../side.ts';

/** Compares fields that can be read, or written, on both sides. Changes of reading are left out. */
export function compareItems(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  if (!before.version.api.graphql || !after.version.api.graphql) return [];
  const [old, fresh] = [visibleCollections(before), visibleCollections(after)];
  const hasKey = (named: Named | undefined): boolean => (named?.shown.view.key.length ?? 0) > 0;
  const keyed = new Set(
    [...fresh.values()].filter((named) => hasKey(named) && !hasKey(old.get(named.name))).map(({ name }) => name),
  );
  return pairs([...old.values()], [...fresh.values()], renames.collections).flatMap(({ was, is }): readonly Found[] => {
    if (was === undefined || is === undefined) return [];
    // Most collections are as they were, and so is all that they lead to.
    if (was.shown === is.shown && !is.shown.descriptor.relations.some(({ target }) => keyed.has(target))) return [];
    const found = (name: string, concern: 'read' | 'create' | 'update'): Found => ({
      rule: 'field-leads',
      subject: `${is.name}.${name}`,
      message: `Over GraphQL an item stands in the place of "${name}" (${concern}).`,
      operations: operationsIn(before, was.name, concern),
      verdicts: { graphql: 'breaking' },
    });
    const renamed = renames.members.get(is.name) ?? new Map<string, string>();
    const item = is.shown.item?.field;
    const read =
      item !== undefined && was.shown.item === null && isRead(was.shown.view, item) ? [found(item, 'read')] : [];
    const written = (['create', 'update'] as const).flatMap((action) =>
      pairs(inputsOf(was.shown, action), inputsOf(is.shown, action), renamed).flatMap(
        ({ was: oldInput, is: other }) => {
          if (
            oldInput === undefined ||
            other === undefined ||
            isNewlyFiltered(was.shown.view, oldInput, is.shown.view, other)
          )
            return [];
          return isItem(oldInput, was.shown, old) || !isItem(other, is.shown, fresh) ? [] : [found(other.name, action)];
        },
      ),
    );
    return [...read, ...written];
  });
}

interface Named {
  readonly name: string;
  readonly shown: GraphqlCollection;
}

function visibleCollections({ version, access }: Side): ReadonlyMap<string, Named> {
  const { collections } = graphqlCollectionsOf(version.api, version.view(access));
  return new Map([...collections].map(([name, shown]) => [name, { name, shown }]));
}

function inputsOf({ view: { writes } }: GraphqlCollection, action: 'create' | 'update'): readonly RoleInput[] {
  return writes?.[action]?.fields ?? [];
}

function isRead({ fields }: RoleCollection, name: string): boolean {
  return fields.some((field) => field.name === name);
}

/** True for a field that can be read before and after, and only now leads to readable items. */
function isNewlyFiltered(was: RoleCollection, oldInput: RoleInput, is: RoleCollection, other: RoleInput): boolean {
  const old = was.fields.find(({ name }) => name === oldInput.name);
  return old?.filtered === null && is.fields.some(({ name, filtered }) => name === other.name && filtered !== null);
}

/** True if a payload has an item in the place of a key. */
function isItem(
  { name, member }: RoleInput,
  { descriptor }: GraphqlCollection,
  all: ReadonlyMap<string, Named>,
): boolean {
  if (member !== null) return true;
  const relation = descriptor.relations.find((relation) => relation.kind === 'm2o' && relation.field === name);
  return relation !== undefined && (all.get(relation.target)?.shown.view.key.length ?? 0) > 0;
}

/** An operation of such a document. */
export type ListedOperation = Pick<KnownOperation, 'name' | 'role' | 'scope' | 'hash'>;

/** Operations of both versions, as their `graphql/operations.json` lists them. */
export interface OperationsOfBoth {
  readonly before: readonly ListedOperation[];
  readonly after: readonly ListedOperation[];
}

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
