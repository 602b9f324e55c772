/**
 * Two schemas → what the change from one to the other means to every client of every role. Pure: no database, no server.
 *
 * `rules.ts` says what each kind of change means; the files named `compare-…` find them; here they are put together.
 */

import type { Schema } from '@tablewright/introspect/schema';
import { findOrCreate } from '@tablewright/runtime/language';
import { createMemoCache } from '../cache/memo-cache.ts';
import { isSame } from '../cache/same.ts';
import { emitClient } from '../client/index.ts';
import type { Render } from '../emit/templates.ts';
import { graphqlTypes } from '../graphql/index.ts';
import { describeOpenApi } from '../openapi/index.ts';
import type { JsonObject } from '../openapi/json.ts';
import { canonicalJson } from '../print/json.ts';
import { hasUsers } from '../role-view/callable.ts';
import type { RoleCollection } from '../role-view/role-view.ts';
import { compareCollections } from './compare/compare-collections.ts';
import { compareExtensions, type ExtensionsOfBoth } from './compare/compare-extensions.ts';
import { compareFunctions } from './compare/compare-functions.ts';
import { compareDocuments, compareItems, type OperationsOfBoth } from './compare/compare-graphql.ts';
import { comparePermissions } from './compare/compare-rights.ts';
import { compareTables } from './compare/compare-tables.ts';
import { findRenames, indexRenames, type Rename, type RenameIndex } from './renames.ts';
import { type ApiSurface, type Change, maxSeverity, type RuleId, rules, surfaces, type Verdicts } from './rules.ts';
import { type Found, type Side, sideOf, versionOf } from './side.ts';

/** Options of a comparison. */
export interface DiffOptions {
  /** Names to take for renamed. Default: everything that `findRenames` finds. */
  readonly renames?: readonly Rename[];
  /** The GraphQL documents of the project on both sides; without them they are not compared. */
  readonly operations?: OperationsOfBoth;
  /** Extensions of both sides. Default: extensions are not compared. */
  readonly extensions?: ExtensionsOfBoth;
}

/** Result of a comparison. */
export interface Diff {
  /** The most severe first, then by subject and rule. */
  readonly changes: readonly Change[];
  /** Names that were taken for renamed. */
  readonly renames: readonly Rename[];
}

/** Compares two schemas. Both must be free of errors, as those in a file are. */
export function diffSchemas(before: Schema, after: Schema, options: DiffOptions = {}): Diff {
  const renames = options.renames ?? findRenames(before, after);
  const index = indexRenames(before, after, renames);
  const memoCache = createMemoCache();
  const [was, is] = [versionOf(before, memoCache), versionOf(after, memoCache)];
  const roles = [...new Set([...was.access.keys(), ...is.access.keys()])].sort();
  // Roles that may do the same before and after are told the same.
  const cached = new Map<string, readonly Found[]>();
  const found = roles.map((role) => {
    const [old, fresh] = [sideOf(was, role), sideOf(is, role)];
    if (!old || !fresh) return { role, found: [lonely(role, fresh !== undefined)] };
    const key = JSON.stringify([old.access.name, fresh.access.name]);
    const changes = findOrCreate(cached, key, () => compareSides(old, fresh, index));
    const documents = options.operations ? compareDocuments(role, options.operations) : [];
    const extensions = options.extensions ? compareExtensions(role, old, fresh, options.extensions) : [];
    return { role, found: [...roleChanges(role, old, fresh), ...changes, ...documents, ...extensions] };
  });
  return { changes: gather(found), renames };
}

function compareSides(was: Side, is: Side, renames: RenameIndex): readonly Found[] {
  const changes = [
    ...apiChanges(was, is),
    ...compareCollections(was, is, renames),
    ...compareItems(was, is, renames),
    ...compareTables(was, is, renames),
    ...comparePermissions(was, is, renames),
    ...compareFunctions(was, is),
  ];
  return asGenerated(was, is, changes);
}

function lonely(role: string, isNew: boolean): Found {
  const context = { subject: `role ${role}`, operations: [] };
  return isNew
    ? { ...context, rule: 'role-added', message: `The role "${role}" is new.`, rights: 'widening' }
    : { ...context, rule: 'role-removed', message: `The role "${role}" is gone.`, rights: 'narrowing' };
}

/** Changes of the API beside collections. */
function apiChanges(was: Side, is: Side): readonly Found[] {
  const [old, fresh] = [was.version.api, is.version.api];
  const foundIn = (rule: RuleId, message: string, operation: string): Found => {
    return { rule, subject: 'api', message, operations: [operation] };
  };
  const found: Found[] = [];
  if (!old.graphql && fresh.graphql) found.push(foundIn('graphql-added', 'There is a GraphQL API.', 'POST /graphql'));
  if (old.graphql && !fresh.graphql) {
    found.push(foundIn('graphql-removed', 'There is no GraphQL API any more.', 'POST /graphql'));
  }
  if (old.graphql && fresh.graphql && old.connections !== fresh.connections) {
    const rule = fresh.connections ? 'connections-added' : 'connections-removed';
    const message = fresh.connections ? 'Connections page through lists.' : 'There are no connections any more.';
    found.push(foundIn(rule, message, 'POST /graphql'));
  }
  if (canonicalJson(old.rowSecurity ?? null) !== canonicalJson(fresh.rowSecurity ?? null)) {
    const message =
      fresh.rowSecurity === undefined
        ? 'Callers are no longer passed on to policies.'
        : `Callers are passed on to policies${old.rowSecurity === undefined ? '' : ' in another way'}.`;
    found.push(foundIn('callers-passed-on', message, 'GET /items/:collection'));
  }
  const [had, has] = [hasUsers(old), hasUsers(fresh)];
  if (!had && has) found.push(foundIn('accounts-added', 'There are users, who sign in.', 'POST /auth/login'));
  if (had && !has) found.push(foundIn('accounts-removed', 'There are no users any more.', 'POST /auth/login'));
  return found;
}

function roleChanges(role: string, was: Side, is: Side): readonly Found[] {
  const context = { subject: `role ${role}`, operations: [] };
  const app = ({ version }: Side): boolean => version.schema.roles.find(({ name }) => name === role)?.app ?? false;
  const found: Found[] = [];
  if (!was.access.admin && is.access.admin) {
    const message = `"${role}" is an administrator.`;
    found.push({ ...context, rule: 'role-made-administrator', message, rights: 'widening' });
  }
  if (was.access.admin && !is.access.admin) {
    const message = `"${role}" is no administrator any more.`;
    found.push({ ...context, rule: 'role-unmade-administrator', message, rights: 'narrowing' });
  }
  if (app(was) !== app(is)) {
    const message = `"${role}" has ${app(is) ? '' : 'no '}app access.`;
    found.push({ ...context, rule: 'role-app-access', message, rights: app(is) ? 'widening' : 'narrowing' });
  }
  return found;
}

/**
 * A last look at what is generated. Rules say what a change can mean on a surface; where that is the same as before, it
 * means nothing there. And where it differs although nothing was said of it, that is said.
 */
function asGenerated(was: Side, is: Side, changes: readonly Found[]): readonly Found[] {
  const differing = differingSurfaces(was, is);
  const seen = changes.map((change): Found => {
    const kept = Object.entries(verdictsOf(change)).filter(
      ([surface]) => surface === 'rest' || unseen.has(change.rule) || differing.has(surfaceOf(surface)),
    );
    return { ...change, verdicts: Object.fromEntries(kept) };
  });
  const reported = new Set(seen.flatMap((change) => Object.keys(verdictsOf(change))));
  // The types of a client say more than anybody relies on, so a difference there alone is nothing to report.
  const silent = (['openapi', 'graphql'] as const).filter(
    (surface) => differing.has(surface) && !reported.has(surface),
  );
  if (silent.length === 0) return seen;
  const verdicts: Verdicts = Object.fromEntries(silent.map((surface) => [surface, 'dangerous']));
  const message = 'Generated files of the role differ.';
  return [...seen, { rule: 'unclassified', subject: 'api', message, operations: [], verdicts }];
}

function surfaceOf(text: string): ApiSurface {
  return surfaces.find((surface) => surface === text) ?? 'rest';
}

/** Changes of meaning without a change of types: another field stands behind the argument `id`. */
const unseen: ReadonlySet<RuleId> = new Set(['key-changed']);

function verdictsOf({ rule, verdicts }: Found): Verdicts {
  return verdicts ?? rules[rule].verdicts;
}

/** Puts together what is the same for several roles. */
function gather(all: readonly { readonly role: string; readonly found: readonly Found[] }[]): readonly Change[] {
  const groups = new Map<string, { change: Change; roles: Set<string>; operations: Set<string> }>();
  for (const { role, found } of all) {
    for (const item of found) {
      const change = changeOf(item);
      const { rule, subject, verdicts, rights: permissions, message } = change;
      const key = JSON.stringify([rule, subject, verdicts, permissions, message]);
      const group = findOrCreate(groups, key, () => ({ change, roles: new Set(), operations: new Set() }));
      group.roles.add(role);
      for (const operation of item.operations) group.operations.add(operation);
    }
  }
  const changes = [...groups.values()].map(({ change, roles, operations }) => ({
    ...change,
    roles: [...roles].sort(),
    operations: [...operations],
  }));
  return changes.sort((a, b) => compareText(orderOf(a), orderOf(b)));
}

function changeOf(found: Found): Change {
  const { rule, subject, rights: permissions, message } = found;
  const verdicts = verdictsOf(found);
  const verdictList = surfaces.flatMap((surface) => verdicts[surface] ?? []);
  // A change of permissions asks for a review, also where no client notices it.
  const severity = maxSeverity([...verdictList, ...(permissions === undefined ? [] : (['dangerous'] as const))]);
  const directed = permissions && { rights: permissions };
  return { rule, subject, roles: [], verdicts, ...directed, severity, message, operations: [] };
}

const ranks = { breaking: 0, dangerous: 1, safe: 2 } as const;

function orderOf({ severity, subject, rule, message, roles }: Change): string {
  return [ranks[severity], subject, rule, message, roles.join()].join('\0');
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Every rule by its id. */
export function ruleIds(): readonly RuleId[] {
  return Object.keys(rules).filter((id): id is RuleId => id in rules);
}

/**
 * The surfaces whose documents, schemas or types are not the same; `rest` is never among them.
 *
 * Places where the files of a role differ between two versions. Only collections that the versions do not share are
 * printed: files follow from the role's view, which is one object where it is the same.
 */
function differingSurfaces(was: Side, is: Side): ReadonlySet<ApiSurface> {
  const common = commonViews(was, is);
  const differs: Readonly<Record<Exclude<ApiSurface, 'rest'>, boolean>> = {
    openapi: !haveSameMembers(documentOf(was, common), documentOf(is, common)),
    graphql: !haveSameTypes(typesOf(was), typesOf(is)),
    client: !haveSameFiles(clientOf(was), clientOf(is)),
  };
  return new Set((['openapi', 'graphql', 'client'] as const).filter((surface) => differs[surface]));
}

function commonViews(was: Side, is: Side): ReadonlySet<RoleCollection> {
  return new Set(
    [...was.collections.values()].filter((collection) => is.collections.get(collection.name) === collection),
  );
}

function documentOf({ version, access }: Side, common: ReadonlySet<RoleCollection>): JsonObject {
  return describeOpenApi(version.api, access, version.view(access), { except: common });
}

/** The order of members means nothing; where it is the same, texts need not be made. */
function haveSameMembers(was: JsonObject, is: JsonObject): boolean {
  return isSame(was, is) || canonicalJson(was) === canonicalJson(is);
}

function typesOf({ version, access }: Side): readonly string[] {
  return version.api.graphql ? graphqlTypes(version.api, access, version.view(access)) : [];
}

/** Neither the order of types nor that of their fields means anything. */
function haveSameTypes(was: readonly string[], is: readonly string[]): boolean {
  const [old, fresh] = [new Set(was), new Set(is)];
  return unordered(was.filter((type) => !fresh.has(type))) === unordered(is.filter((type) => !old.has(type)));
}

function unordered(texts: readonly string[]): string {
  const types = texts.flatMap((text) => text.split('\n\n')).map((type) => type.trim().split('\n').sort().join('\n'));
  return types.sort().join('\n\n');
}

const render: Render = (_, parts) => JSON.stringify(parts);

function clientOf({ version, access }: Side): ReadonlyMap<string, string> {
  const files = emitClient(version.api, access, render, version.view(access));
  return new Map(files.map(({ path, contents }) => [path, contents]));
}

function haveSameFiles(was: ReadonlyMap<string, string>, is: ReadonlyMap<string, string>): boolean {
  return was.size === is.size && [...was].every(([path, contents]) => is.get(path) === contents);
}
