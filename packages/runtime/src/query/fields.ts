import { parseCall } from '../contract/operators.ts';
import { forbidden, invalidQuery } from './invalid.ts';
import type { ReadLimits } from './parse-read.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from './scope.ts';

/** What one response name of an item is made of. */
export type Selected =
  | { readonly kind: 'field'; readonly key: string; readonly field: FieldScope }
  /** A relation that is not nested: the key, or the keys, of what it leads to. */
  | { readonly kind: 'keys'; readonly key: string; readonly relation: RelationScope }
  | { readonly kind: 'nested'; readonly key: string; readonly relation: RelationScope; readonly of: Selection };

/** The selected parts of one collection, in the order of the answer. */
export interface Selection {
  readonly collection: CollectionScope;
  readonly parts: readonly Selected[];
}

/** A path of `fields` from the level it is looked at. Under a wildcard, what cannot be read is left out. */
interface Path {
  readonly names: readonly string[];
  readonly soft: boolean;
}

/** What was asked of one name: itself, and paths below it. */
interface Asked {
  own: boolean;
  soft: boolean;
  readonly below: Path[];
}

interface Budget {
  readonly scope: Scope;
  relations: number;
  /** Paths handed down to relations: wildcards multiply them, and each costs time although it may select nothing. */
  paths: number;
}

/** Paths handed down for each relation that may be selected. */
const pathsPerRelation = 10;

/**
 * The names stage of `fields`: paths to a tree of readable fields and relations (API specification, section 5.1).
 *
 * Throws FORBIDDEN for a name that is hidden or unknown, INVALID_QUERY for a selection that is too large.
 */
export function resolveFields(
  scope: Scope,
  collection: CollectionScope,
  fields: readonly (readonly string[])[],
  limits: ReadLimits,
): Selection {
  const budget: Budget = { scope, relations: limits.relations, paths: limits.relations * pathsPerRelation };
  return resolveLevel(
    budget,
    collection,
    fields.map((names) => ({ names, soft: false })),
  );
}

/**
 * The syntax stage of `fields`: a name written as a function call that no collection has as a name. Functions are not
 * available in `fields`.
 */
export function refuseCalls(scope: Scope, paths: readonly (readonly string[])[], parameter: string): void {
  for (const name of paths.flat()) {
    if (parseCall(name) !== undefined && !isName(scope, name)) throw invalidQuery(`"${parameter}" takes no functions.`);
  }
}

function isName(scope: Scope, name: string): boolean {
  for (const { fields, relations } of scope.collections.values())
    if (fields.has(name) || relations.has(name)) return true;
  return false;
}

function resolveLevel(budget: Budget, collection: CollectionScope, paths: readonly Path[], link = false): Selection {
  const asked = new Map<string, Asked>();
  let all = false;
  for (const path of paths) {
    if (path.names[0] === '*') {
      if (!all) askAll(collection, asked);
      all = true;
      askBelowAll(budget, collection, path, asked);
    } else ask(budget, asked, path);
  }
  const parts: Selected[] = [];
  for (const [name, what] of asked) {
    if (link && isItem(name, what)) throw invalidQuery('"fields" cannot nest the items of a many-to-any relation yet.');
    const part = resolveName(budget, collection, name, what);
    if (part !== undefined) parts.push(part);
  }
  return { collection, parts };
}

/** `item:<collection>`, or paths below `item`: what link rows of a many-to-any lead to. */
function isItem(name: string, { below }: Asked): boolean {
  return name.startsWith('item:') || (name === 'item' && below.length > 0);
}

function ask(budget: Budget, asked: Map<string, Asked>, { names, soft }: Path): void {
  const [name = '', ...rest] = names;
  if (rest.length === 0) askOwn(asked, name, soft);
  else askBelow(budget, asked, name, { names: rest, soft });
}

function askOwn(asked: Map<string, Asked>, name: string, soft: boolean): void {
  const what = entryOf(asked, name);
  what.own = true;
  what.soft &&= soft;
}

function askBelow(budget: Budget, asked: Map<string, Asked>, name: string, path: Path): void {
  budget.paths -= 1;
  if (budget.paths < 0) throw tooLarge();
  const what = entryOf(asked, name);
  what.below.push(path);
  what.soft &&= path.soft;
}

function entryOf(asked: Map<string, Asked>, name: string): Asked {
  const known = asked.get(name);
  if (known !== undefined) return known;
  const what: Asked = { own: false, soft: true, below: [] };
  asked.set(name, what);
  return what;
}

/** `*` asks for every field and for the keys of every relation. */
function askAll(collection: CollectionScope, asked: Map<string, Asked>): void {
  for (const name of collection.fields.keys()) askOwn(asked, name, true);
  for (const name of collection.relations.keys()) askOwn(asked, name, true);
}

/** `*.x` asks for `x` of every relation too. */
function askBelowAll(budget: Budget, collection: CollectionScope, { names }: Path, asked: Map<string, Asked>): void {
  const [, ...rest] = names;
  if (rest.length === 0) return;
  const below: Path = { names: rest, soft: true };
  for (const [name, { descriptor }] of collection.relations) {
    if (budget.scope.collections.has(descriptor.target)) askBelow(budget, asked, name, below);
  }
}

function resolveName(budget: Budget, collection: CollectionScope, name: string, asked: Asked): Selected | undefined {
  const field = collection.fields.get(name);
  const relation = collection.relations.get(name);
  if (asked.below.length > 0) return resolveNested(budget, name, relation, field, asked);
  if (field !== undefined) return { kind: 'field', key: name, field };
  if (relation !== undefined) return resolveKeys(budget, name, relation, asked.soft);
  if (asked.soft) return undefined;
  throw forbidden();
}

function resolveNested(
  budget: Budget,
  name: string,
  relation: RelationScope | undefined,
  field: FieldScope | undefined,
  asked: Asked,
): Selected | undefined {
  const target = relation && budget.scope.collections.get(relation.descriptor.target);
  if (relation === undefined || target === undefined) {
    if (!asked.soft) throw forbidden();
    return field && { kind: 'field', key: name, field };
  }
  countRelation(budget);
  const of = resolveLevel(budget, target, asked.below, relation.descriptor.kind === 'm2a');
  return { kind: 'nested', key: name, relation, of };
}

/** The keys of a relation can be read when the key fields of its target can. */
function resolveKeys(budget: Budget, name: string, relation: RelationScope, soft: boolean): Selected | undefined {
  const { descriptor } = relation;
  const target = budget.scope.collections.get(descriptor.target);
  const key = target?.descriptor.key ?? [];
  const hidden = target === undefined || key.some((part) => !target.fields.has(part));
  if (descriptor.kind !== 'm2o' && (hidden || key.length === 0)) {
    if (soft) return undefined;
    throw hidden ? forbidden() : invalidQuery('"fields" names a relation to items without keys; name their fields.');
  }
  countRelation(budget);
  return { kind: 'keys', key: name, relation };
}

function countRelation(budget: Budget): void {
  budget.relations -= 1;
  if (budget.relations < 0) throw tooLarge();
}

function tooLarge(): Error {
  return invalidQuery('"fields" selects too many relations.');
}
