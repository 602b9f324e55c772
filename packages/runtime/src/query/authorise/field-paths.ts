import { invalidQuery } from '../../errors.ts';
import { isSelectedByName } from '../../language/types/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';

/** A path of `fields` from the level it is looked at. Under a wildcard, what cannot be read is left out. */
export interface Path {
  readonly names: readonly string[];
  readonly soft: boolean;
}

/** Paths that begin with one name: the name itself, and paths below it. */
export interface RequestedName {
  own: boolean;
  soft: boolean;
  readonly below: Path[];
}

/** Remaining size that a selection may have. */
export interface Budget {
  relations: number;
  /** Paths handed down to relations: wildcards multiply them, and each costs time although it may select nothing. */
  paths: number;
}

/** Paths handed down for each relation that may be selected. */
const pathsPerRelation = 10;

/** The budget of a request that may select so many relations. */
export function budgetOf(relations: number): Budget {
  return { relations, paths: relations * pathsPerRelation };
}

/** Takes one relation from a budget. Throws INVALID_QUERY when there is none left. */
export function countRelation(budget: Budget): void {
  budget.relations -= 1;
  if (budget.relations < 0) throw tooLarge();
}

/** Takes one path from a budget. Throws INVALID_QUERY when there is none left. */
export function countPath(budget: Budget): void {
  budget.paths -= 1;
  if (budget.paths < 0) throw tooLarge();
}

function tooLarge(): Error {
  return invalidQuery('"fields" selects too many relations.');
}

/** A level of `fields`: the names that a wildcard stands for. */
interface WildcardNames {
  readonly collection: CollectionScope;
  readonly aliases: ReadonlyMap<string, string>;
  /** True if rows of this level are link rows of a many-to-any, whose items can be nested. */
  readonly links: boolean;
}

interface Gathering {
  readonly scope: Scope;
  readonly budget: Budget;
  readonly requested: Map<string, RequestedName>;
}

/** Gathers the paths of one level by their first name, in the order in which the names first appear. */
export function gatherPaths(
  scope: Scope,
  budget: Budget,
  level: WildcardNames,
  paths: readonly Path[],
): ReadonlyMap<string, RequestedName> {
  const gathering: Gathering = { scope, budget, requested: new Map() };
  let all = false;
  for (const path of paths) {
    if (path.names[0] === '*') {
      if (!all) askAll(gathering, level);
      all = true;
      askBelowAll(gathering, level, path);
    } else ask(gathering, path);
  }
  return gathering.requested;
}

function ask(gathering: Gathering, { names, soft }: Path): void {
  const [name = '', ...rest] = names;
  if (rest.length === 0) askOwn(gathering, name, soft);
  else askBelow(gathering, name, { names: rest, soft });
}

function askOwn({ requested }: Gathering, name: string, soft: boolean): void {
  const what = entryOf(requested, name);
  what.own = true;
  what.soft &&= soft;
}

function askBelow({ requested, budget }: Gathering, name: string, path: Path): void {
  countPath(budget);
  const what = entryOf(requested, name);
  what.below.push(path);
  what.soft &&= path.soft;
}

function entryOf(requested: Map<string, RequestedName>, name: string): RequestedName {
  return findOrCreate(requested, name, () => ({ own: false, soft: true, below: [] }));
}

/** `*` asks for every field that is not selected by name alone, for the keys of every relation, and for every alias. */
function askAll(gathering: Gathering, level: WildcardNames): void {
  for (const name of namesOf(level)) askOwn(gathering, name, true);
}

/** `*.x` asks for `x` of every relation too. */
function askBelowAll(gathering: Gathering, level: WildcardNames, { names }: Path): void {
  const [, ...rest] = names;
  if (rest.length === 0) return;
  const below: Path = { names: rest, soft: true };
  for (const name of namesOf(level)) {
    const relation = level.collection.relations.get(level.aliases.get(name) ?? name)?.descriptor;
    if (relation !== undefined && gathering.scope.collections.has(relation.target)) askBelow(gathering, name, below);
  }
  if (level.links) askBelow(gathering, 'item', below);
}

function namesOf({ collection, aliases }: WildcardNames): ReadonlySet<string> {
  const fields = [...collection.fields].flatMap(([name, { descriptor }]) => (isSelectedByName(descriptor) ? [] : name));
  return new Set([...fields, ...collection.relations.keys(), ...aliases.keys()]);
}
