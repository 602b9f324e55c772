import { forbidden, invalidQuery, missingName, type PlatformError } from '../../errors.ts';
import type { Condition, ManyToAny } from '../../language/index.ts';
import { withArchived } from '../../sql/archived/other-rows.ts';
import { resolveCall } from '../../sql/calls.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from '../../sql/scope.ts';
import type { ReadLimits } from '../parse/request.ts';
import {
  type Budget,
  budgetOf,
  countPath,
  countRelation,
  gatherPaths,
  type Path,
  type RequestedName,
} from './field-paths.ts';
import { isItemName, itemKey, linkOf, requestedItems } from './links.ts';
import type { NestedRead, NestedReads } from './nested.ts';
import type { Selected, SelectedItem, Selection } from './selection.ts';

/** Everything that `fields` is resolved against. */
interface FieldNames {
  readonly scope: Scope;
  readonly collection: CollectionScope;
  readonly aliases: ReadonlyMap<string, string>;
  readonly reads: NestedReads;
  /** Filter of the same rows. Default: none. */
  readonly condition?: Condition;
  readonly limits: ReadLimits;
}

/** A selection, and what else is wrong with it, to be thrown when all names have been looked up. */
export type ResolvedFields = ReturnType<typeof resolveFields>;

interface Resolving {
  readonly scope: Scope;
  readonly budget: Budget;
  readonly late: PlatformError[];
}

interface Level {
  readonly collection: CollectionScope;
  readonly reads: NestedReads;
  readonly aliases: ReadonlyMap<string, string>;
  readonly link?: ManyToAny | undefined;
  readonly condition?: Condition | undefined;
}

const noAliases: ReadonlyMap<string, string> = new Map();
const noReads: NestedReads = new Map();

/**
 * The names stage of `fields` and `alias`: paths to a tree of readable fields and relations (API specification, sections
 * 5.1 and 5.4).
 *
 * Throws FORBIDDEN for a name that is hidden or unknown, INVALID_QUERY for a selection that is too large.
 */
export function resolveFields(names: FieldNames, fields: readonly (readonly string[])[]) {
  const { scope, collection, aliases, reads, condition, limits } = names;
  const to: Resolving = { scope, budget: budgetOf(limits.relations), late: [] };
  authoriseAliases(to, collection, aliases);
  const paths = fields.map((path) => ({ names: path, soft: false }));
  return { selection: resolveLevel(to, { collection, reads, aliases, condition }, paths), late: to.late };
}

/** An alias stands for a field or relation of the level. Only readable names decide if its own name is free. */
function authoriseAliases(to: Resolving, collection: CollectionScope, aliases: Level['aliases']): void {
  const { fields, relations } = collection;
  for (const [name, source] of aliases) {
    const field = fields.get(source);
    if (field?.secret === true || (field === undefined && !relations.has(source)))
      throw missingName(collection, source);
    if (fields.has(name) || relations.has(name)) to.late.push(invalidQuery('"alias" takes names that are free.'));
  }
}

function resolveLevel(to: Resolving, level: Level, paths: readonly Path[]): Selection {
  const { collection, link, aliases } = level;
  const requested = gatherPaths(to.scope, to.budget, { collection, aliases, links: link !== undefined }, paths);
  const parts: Selected[] = [];
  const items: [string, RequestedName][] = [];
  for (const [name, what] of requested) {
    if (link === undefined || !isItemName(link, name)) {
      const part = resolveName(to, level, name, what);
      if (part !== undefined) parts.push(part);
    } else if (items.push([name, what]) === 1) {
      const all = [...requested].filter(([other]) => isItemName(link, other));
      parts.push(...resolveItem(to, level, link, all));
    }
  }
  const keys = new Set(parts.map(({ key }) => key));
  if (keys.size < parts.length) to.late.push(invalidQuery('"fields" gives two values one name.'));
  return { collection, parts };
}

function resolveName(to: Resolving, level: Level, key: string, requested: RequestedName): Selected | undefined {
  const { collection, reads } = level;
  const name = level.aliases.get(key) ?? key;
  const field = collection.fields.get(name);
  const read = reads.get(key);
  const relation = requestedRows(to.scope, collection.relations.get(name), read);
  if (read?.request.aggregate !== undefined && relation !== undefined && read.many) {
    return resolveAggregated(to, key, relation, read, requested);
  }
  if (requested.below.length > 0) return resolveNested(to, level, key, { relation, field, read }, requested);
  if (field !== undefined) return { kind: 'field', key, field };
  if (relation !== undefined) return resolveKeys(to, key, relation, requested.soft, read);
  return resolveFunction(to, level, name, requested.soft);
}

/** A relation to the rows that `deep` asks for. */
function requestedRows(
  { collections }: Scope,
  relation: RelationScope | undefined,
  read: NestedRead | undefined,
): RelationScope | undefined {
  const archived = read?.request.archived;
  const target = relation && collections.get(relation.descriptor.target);
  const found = archived && target && withArchived(target, archived);
  return relation && found ? { ...relation, target: found } : relation;
}

/** Under a wildcard a function of what this level does not have is left out. */
function resolveFunction(
  to: Resolving,
  { collection, condition }: Level,
  name: string,
  soft: boolean,
): Selected | undefined {
  const call = resolveCall(collection, name, condition);
  if (call !== undefined && typeof call.found === 'object') return { kind: 'call', key: call.key, call: call.found };
  if (soft) return undefined;
  if (call?.found !== 'unfit') throw missingName(collection, name);
  const advice = name.startsWith('distance(') ? ' A distance needs one "_near" beside it.' : '';
  to.late.push(invalidQuery(`"fields" has "${name}", whose function does not fit the field.${advice}`));
  return undefined;
}

interface Found {
  readonly relation: RelationScope | undefined;
  readonly field: FieldScope | undefined;
  readonly read: NestedRead | undefined;
}

function resolveNested(
  to: Resolving,
  { collection }: Level,
  key: string,
  found: Found,
  requested: RequestedName,
): Selected | undefined {
  const { relation, field, read } = found;
  const target = relation && (relation.target ?? to.scope.collections.get(relation.descriptor.target));
  if (relation === undefined || target === undefined) {
    if (!requested.soft) throw missingName(collection, key);
    return field && { kind: 'field', key, field };
  }
  countRelation(to.budget);
  const link = linkOf(relation.descriptor);
  const reads = read?.below ?? noReads;
  const level = { collection: target, reads, aliases: noAliases, link, condition: read?.condition };
  const selection = resolveLevel(to, level, requested.below);
  return { kind: 'nested', key, relation, of: selection, read };
}

/** The rows of the relation are aggregated: paths below it are judged as names, and select nothing. */
function resolveAggregated(
  to: Resolving,
  key: string,
  relation: RelationScope,
  read: NestedRead,
  requested: RequestedName,
): Selected | undefined {
  countRelation(to.budget);
  const collection = to.scope.collections.get(relation.descriptor.target);
  if (collection === undefined) return undefined;
  const level = { collection, reads: read.below, aliases: noAliases, link: linkOf(relation.descriptor) };
  resolveLevel(to, level, requested.below);
  return { kind: 'aggregate', key, relation, read };
}

/** The item of a link row: records of the collections that paths were asked of, and the key where it was asked for. */
function resolveItem(
  to: Resolving,
  { collection, reads }: Level,
  link: ManyToAny,
  requested: readonly (readonly [string, RequestedName])[],
): readonly Selected[] {
  const { own: selectsKey, soft, below } = requestedItems(to.scope, collection, link, requested);
  const key = itemKey(collection, link);
  if (key === undefined && !soft) throw forbidden();
  const items = below.map(({ target, paths }): SelectedItem => {
    countRelation(to.budget);
    for (const _ of paths) countPath(to.budget);
    const read = reads.get(`item:${target.descriptor.name}`);
    const level = { collection: target, reads: read?.below ?? noReads, aliases: noAliases };
    return { of: resolveLevel(to, level, paths), read };
  });
  if (items.length > 0) return [{ kind: 'item', key: link.itemField, link, items, own: selectsKey ? key : undefined }];
  return selectsKey && key !== undefined ? [{ kind: 'field', key: link.itemField, field: key }] : [];
}

/** The keys of a relation can be read when the key fields of its target can. */
function resolveKeys(
  to: Resolving,
  key: string,
  relation: RelationScope,
  soft: boolean,
  read: NestedRead | undefined,
): Selected | undefined {
  const { descriptor } = relation;
  const target = to.scope.collections.get(descriptor.target);
  const parts = target?.descriptor.key ?? [];
  const hidden = target === undefined || parts.some((part) => !target.fields.has(part));
  if (descriptor.kind !== 'm2o' && (hidden || parts.length === 0)) {
    if (soft) return undefined;
    if (hidden) throw forbidden();
    to.late.push(invalidQuery('"fields" names a relation to items without keys; name their fields.'));
  }
  countRelation(to.budget);
  return { kind: 'keys', key, relation, read };
}
