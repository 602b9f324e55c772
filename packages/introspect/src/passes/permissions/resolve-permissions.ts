import {
  always,
  type Condition,
  type Dialect,
  type ImpliedRule,
  impliedFields,
  impliedRules,
  type JsonValue,
  systemCollection,
} from '@tablewright/runtime/language';
import type { PermissionDocument, PlacedValue, RuleSource } from '../../config/permissions/permission-document.ts';
import { plainValue } from '../../config/yaml/placed-value.ts';
import type { PlacedName } from '../../config/yaml/source.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, Permission, Role, Table } from '../../schema.ts';
import { collectionsByName, namesIn, tablesById } from '../lookup.ts';
import { filterNames } from './filter-names.ts';
import { type ConditionNames, readCondition, readPresets } from './resolve-rules.ts';

/**
 * Looks up the names of the permissions file in the collections. `*` becomes the fields and relations that exist now,
 * in their order; rules for `delete` have no fields. An unknown name is an error at its line. A rule whose condition is
 * wrong matches nothing. Permissions of app access follow the rules of the file.
 */
export function resolvePermissions(
  document: PermissionDocument,
  collections: readonly Collection[],
  tables: readonly Table[],
  dialect: Dialect,
) {
  const names: Names = {
    collections: collectionsByName(collections),
    tables: tablesById(tables),
    filter: filterNames(collections, tables, dialect),
    dialect,
    unknown: new Set(),
  };
  const diagnostics: Diagnostic[] = [];
  const roles = resolveRoles(document);
  const resolved = resolveRules(document, names, diagnostics);
  const permissions = sortedBy(
    [...resolved, ...appAccess(roles, names)],
    ({ role }) => role,
    ({ collection }) => collection,
    ({ action }) => action,
  );
  return { roles, permissions, diagnostics };
}

interface Names extends ConditionNames {
  readonly tables: ReadonlyMap<string, Table>;
  /** Places of names of collections that do not exist, told already. */
  readonly unknown: Set<string>;
}

function resolveRoles({ roles }: PermissionDocument): readonly Role[] {
  const plain = roles.map(({ name, description, admin, app }) => ({ name, description, admin, app }));
  return sortedBy(plain, ({ name }) => name);
}

/** A rule that repeats another one, about which there was nothing to say, means the same. */
function resolveRules({ rules }: PermissionDocument, names: Names, diagnostics: Diagnostic[]): readonly Permission[] {
  const faultless = new Map<RuleSource, readonly Permission[]>();
  return rules.flatMap((rule) => {
    const repeated = rule.like && faultless.get(rule.like);
    if (repeated !== undefined) return repeated.map((permission) => ({ ...permission, role: rule.role.name }));
    const before = diagnostics.length;
    const permissions = resolveRule(rule, names, diagnostics);
    if (diagnostics.length === before) faultless.set(rule, permissions);
    return permissions;
  });
}

function resolveRule(rule: RuleSource, names: Names, diagnostics: Diagnostic[]): readonly Permission[] {
  const collection = names.collections.get(rule.collection.name);
  if (collection === undefined) {
    // Every action of a collection has the place of its name.
    const { place: location } = rule.collection;
    if (!names.unknown.has(location)) diagnostics.push(unknownCollection(rule, names));
    names.unknown.add(location);
    return [];
  }
  const conditionOf = (part: 'filter' | 'validation'): Condition | null =>
    rule[part] === null ? null : readCondition(rule[part], part, collection, names, diagnostics);
  return [
    {
      role: rule.role.name,
      collection: collection.name,
      action: rule.action,
      fields: rule.action === 'delete' ? [] : resolveFields(rule, collection, diagnostics),
      where: conditionOf('filter') ?? always,
      check: conditionOf('validation'),
      presets: readPresets(rule.presets, collection, names.tables.get(collection.table)?.columns, names, diagnostics),
      ...(rule.purge && { purge: true as const }),
    },
  ];
}

function resolveFields(rule: RuleSource, collection: Collection, diagnostics: Diagnostic[]): readonly string[] {
  const visible = namesIn(collection);
  const listed = rule.fields ?? [];
  for (const { name, place: location } of listed) {
    if (name !== '*' && !visible.has(name)) diagnostics.push(unknownField(name, location, collection));
  }
  const requested = new Set(listed.map(({ name }) => name));
  const everything = rule.action === 'read' ? visible : writableNames(collection, visible, rule.action);
  return [...visible].filter((name) => (requested.has('*') && everything.has(name)) || requested.has(name));
}

/** Fields that `*` means for writing: without platform fields that only the server or administrators write. */
function writableNames(
  collection: Collection,
  visible: ReadonlySet<string>,
  action: RuleSource['action'],
): ReadonlySet<string> {
  if (collection.system === undefined) return visible;
  const { administrators = [], fixed = [] } = systemCollection(collection.name) ?? {};
  const owned = collection.fields.filter(({ serverOwned }) => serverOwned).map(({ name }) => name);
  const others = new Set([...owned, ...administrators, ...(action === 'update' ? fixed : [])]);
  return new Set([...visible].filter((name) => !others.has(name)));
}

function unknownCollection({ collection: { name, place: location } }: RuleSource, { collections }: Names): Diagnostic {
  const hint = suggest(name, collections.keys()) ?? 'Rules name collections as the API does.';
  const message = `The collection "${name}" does not exist.`;
  return { code: 'unknown-collection', severity: 'error', place: location, message, hint };
}

/** A name that is neither a field nor a relation of a collection. */
function unknownField(name: string, location: string, collection: Collection): Diagnostic {
  const message = `The collection "${collection.name}" has no field "${name}".`;
  const [first = ''] = name.split('.');
  const relation = first === name ? undefined : collection.relations.find((each) => each.name === first);
  const hint =
    relation === undefined
      ? suggest(name, namesIn(collection))
      : `Write "${first}" here: rules of "${relation.target}" grant the fields of its items.`;
  return { code: 'unknown-field', severity: 'error', place: location, message, hint };
}

/** The rules that roles have by app access, for the collections that are installed. Administrators need none. */
function appAccess(roles: readonly Role[], names: Names): readonly Permission[] {
  const named = appRoles(roles);
  if (named.length === 0) return [];
  const rules = impliedRules.flatMap((rule) => {
    const collection = names.collections.get(rule.collection);
    if (collection?.system === undefined) return [];
    const fields = impliedFields(rule, collection.fields);
    return resolveRule(sourceOf(rule, fields), names, []).map((permission) => ({ ...permission, fields }));
  });
  return named.flatMap((role) => rules.map((rule) => ({ ...rule, role })));
}

/** Names of the roles that have rules by app access. */
export function appRoles(roles: readonly Role[]): readonly string[] {
  return roles.filter(({ app, admin }) => app && !admin).map(({ name }) => name);
}

function sourceOf(rule: ImpliedRule, fields: readonly string[]): RuleSource {
  const named = (name: string): PlacedName => ({ name, place: 'app access' });
  const placed = (value: JsonValue): PlacedValue => ({
    ...plainValue(value),
    place: 'app access',
    source: null,
    lines: 0,
  });
  return {
    role: named(''),
    collection: named(rule.collection),
    action: rule.action,
    place: 'app access',
    fields: fields.map(named),
    filter: rule.permissions === null ? null : placed(rule.permissions),
    validation: rule.validation === null ? null : placed(rule.validation),
    presets: Object.entries(rule.presets ?? {}).map(([field, value]) => ({
      field: named(field),
      value: placed(value),
    })),
  };
}
