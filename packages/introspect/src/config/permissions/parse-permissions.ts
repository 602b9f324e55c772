import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { booleanOf, entriesOf, formError, isKnownKey, isNothing, placedValue, textOf } from '../yaml/placed-value.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { movedPlace, type PlacedName, type SourceEntry, type SourceNode } from '../yaml/source.ts';
import {
  type Action,
  actions,
  type CallSource,
  type PermissionDocument,
  type PlacedValue,
  type PresetSource,
  type RoleSource,
  type RuleSource,
} from './permission-document.ts';

/**
 * Reads the text of a permissions file. An empty text is the document of an absent file: administrators only.
 *
 * Names of collections and fields are looked up later; here the form is judged. A part that is wrong is left out and
 * reported with its line and column.
 */
export function parsePermissions(
  text: string,
  fileName: string,
): { readonly document: PermissionDocument; readonly diagnostics: readonly Diagnostic[] } {
  const { root, diagnostics: problems } = readYaml(text, fileName);
  const diagnostics = [...problems];
  const sections = root === null || isNothing(root) ? new Map<string, SourceNode>() : readSections(root, diagnostics);
  const roles = parseRoles(sections.get('roles'), diagnostics);
  const rules = parseRules(sections.get('permissions'), roles, diagnostics);
  const functions = parseCalls(sections.get('functions'), roles, diagnostics);
  return { document: { fileName, roles, rules, ...(functions.length > 0 && { functions }) }, diagnostics };
}

function readSections(root: SourceNode, diagnostics: Diagnostic[]): ReadonlyMap<string, SourceNode> {
  return new Map(
    entriesOf(root, 'The file', diagnostics).flatMap(({ key, value }) =>
      isKnownKey(key, ['roles', 'permissions', 'functions'], diagnostics) ? [[key.name, value] as const] : [],
    ),
  );
}

/** Reads the section `functions`: role → a list of names, or names with `true` or the arguments that the server sets. */
function parseCalls(
  section: SourceNode | undefined,
  roles: readonly RoleSource[],
  diagnostics: Diagnostic[],
): readonly CallSource[] {
  if (section === undefined) return [];
  return entriesOf(section, 'The section "functions"', diagnostics)
    .filter((role) => isKnownRole(role, roles, diagnostics))
    .flatMap(({ key: role, value }) => {
      if (value.kind !== 'list') {
        const hint = 'Write the functions as a list, such as [nearest_shops].';
        const entries = entriesOf(value, `The role "${role.name}"`, diagnostics, hint);
        return entries.flatMap((entry) => parseCall(role, entry, diagnostics));
      }
      return value.items.flatMap((item) => {
        const name = textOf(item, diagnostics);
        return name === null ? [] : [{ role, function: { name, place: item.place }, args: [] }];
      });
    });
}

function parseCall(role: PlacedName, { key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly CallSource[] {
  if (value.kind === 'scalar' && value.value === true) return [{ role, function: key, args: [] }];
  if (value.kind !== 'map') {
    const message = `The function "${key.name}" needs \`true\`, or \`{ args: … }\`.`;
    diagnostics.push(formError(value.place, message, 'To forbid it, leave it out.'));
    return [];
  }
  const args = value.entries
    .filter((entry) => isKnownKey(entry.key, ['args'], diagnostics))
    .filter((entry) => !isEmpty('args', entry.value, 'Leave it out.', diagnostics))
    .flatMap((entry) => entriesOf(entry.value, 'The arguments', diagnostics))
    .map((entry) => ({ field: entry.key, value: placedValue(entry.value) }));
  return [{ role, function: key, args }];
}

/** Roles that exist in every project: callers without a token, and those who may do everything. */
const builtInRoles = ['admin', 'public'] as const;

const roleKeys = ['description', 'admin', 'app'] as const;

/** Reads the section `roles`. The built-in roles cannot be defined again. */
function parseRoles(section: SourceNode | undefined, diagnostics: Diagnostic[]): readonly RoleSource[] {
  if (section === undefined) return [];
  return entriesOf(section, 'The section "roles"', diagnostics).flatMap((entry) => parseRole(entry, diagnostics));
}

function parseRole({ key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly RoleSource[] {
  const problem = roleNameProblem(key.name);
  if (problem !== null) {
    diagnostics.push({ code: 'role-name', severity: 'error', place: key.place, ...problem });
    return [];
  }
  const entries = entriesOf(value, `The role "${key.name}"`, diagnostics);
  const recognised = entries.filter((entry) => isKnownKey(entry.key, roleKeys, diagnostics));
  const partOf = (name: (typeof roleKeys)[number]) => recognised.find((entry) => entry.key.name === name)?.value;
  const [description, admin, app] = [partOf('description'), partOf('admin'), partOf('app')];
  return [
    {
      ...key,
      description: description === undefined ? null : textOf(description, diagnostics),
      admin: admin === undefined ? false : booleanOf(admin, false, diagnostics),
      app: app === undefined ? false : booleanOf(app, false, diagnostics),
    },
  ];
}

/** Reason why a role cannot have this name; null when it can. */
export function roleNameProblem(name: string): { readonly message: string; readonly hint: string } | null {
  const builtIn: readonly string[] = builtInRoles;
  if (builtIn.includes(name)) {
    const hint = name === 'admin' ? 'Use another name with `admin: true`.' : 'Write its rules under "permissions".';
    return { message: `The role "${name}" is built in and cannot be defined again.`, hint };
  }
  if (name.trim() !== '') return null;
  return { message: 'A role needs a name.', hint: 'Write a name before the colon.' };
}

/** False, reported, for rules of a role that the file does not define, and of `admin`, which takes none. */
function isKnownRole({ key }: SourceEntry, roles: readonly RoleSource[], diagnostics: Diagnostic[]): boolean {
  const names = ['public', ...roles.map(({ name }) => name)];
  if (names.includes(key.name)) return true;
  if (key.name === 'admin') {
    diagnostics.push(formError(key.place, 'The role "admin" may do everything and takes no rules.', 'Remove them.'));
    return false;
  }
  const hint = suggest(key.name, names) ?? 'Define it under "roles".';
  const message = `The role "${key.name}" is not defined.`;
  diagnostics.push({ code: 'unknown-role', severity: 'error', place: key.place, message, hint });
  return false;
}

/** Reads the section `permissions`: role → collection → action → one rule or a list of them. */
function parseRules(
  section: SourceNode | undefined,
  roles: readonly RoleSource[],
  diagnostics: Diagnostic[],
): readonly RuleSource[] {
  if (section === undefined) return [];
  const faultless = new Map<SourceEntry, readonly RuleSource[]>();
  return entriesOf(section, 'The section "permissions"', diagnostics)
    .filter((role) => isKnownRole(role, roles, diagnostics))
    .flatMap((role) => {
      const { repeats } = role;
      const first = repeats === undefined ? undefined : faultless.get(repeats.first);
      if (repeats !== undefined && first !== undefined) return repeatRules(first, role.key, repeats.lines);
      const before = diagnostics.length;
      const rules = parseRulesOfRole(role, diagnostics);
      if (diagnostics.length === before) faultless.set(role, rules);
      return rules;
    });
}

function parseRulesOfRole({ key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly RuleSource[] {
  return entriesOf(value, `The role "${key.name}"`, diagnostics).flatMap((collection) =>
    parseCollection(key, collection, diagnostics),
  );
}

function parseCollection(role: PlacedName, collection: SourceEntry, diagnostics: Diagnostic[]): readonly RuleSource[] {
  const hint = 'Write what may be done with it, such as `{ read: true }`.';
  const entries = entriesOf(collection.value, `The collection "${collection.key.name}"`, diagnostics, hint);
  return entries.flatMap(({ key, value }) => {
    const action = actions.find((name) => name === key.name);
    if (action === undefined) {
      diagnostics.push(unknownAction(key));
      return [];
    }
    const about = { role, collection: collection.key, action };
    const nodes = value.kind === 'list' ? value.items : [value];
    return nodes.flatMap((node) => parseRule(about, node, diagnostics));
  });
}

function unknownAction({ name, place: location }: PlacedName): Diagnostic {
  const hint = suggest(name, actions) ?? `Actions are ${actions.map((action) => `"${action}"`).join(', ')}.`;
  return {
    code: 'unknown-action',
    severity: 'error',
    place: location,
    message: `The action "${name}" is unknown.`,
    hint,
  };
}

type About = Pick<RuleSource, 'role' | 'collection' | 'action'>;

/** Parts that a rule may have. A create has no stored row to filter; read and delete write nothing. */
const rulePartsOf: Readonly<Record<Action, readonly string[]>> = {
  create: ['fields', 'validation', 'presets'],
  read: ['fields', 'filter'],
  update: ['fields', 'filter', 'validation', 'presets'],
  delete: ['fields', 'filter', 'purge'],
};

function parseRule(about: About, node: SourceNode, diagnostics: Diagnostic[]): readonly RuleSource[] {
  const nothing = { filter: null, validation: null, presets: [] };
  if (node.kind === 'scalar' && node.value === true) {
    return [{ ...about, place: node.place, fields: [{ name: '*', place: node.place }], ...nothing }];
  }
  if (node.kind !== 'map') {
    const message = `The action "${about.action}" needs \`true\`, a rule, or a list of rules.`;
    diagnostics.push(formError(node.place, message, 'To forbid an action, leave it out.'));
    return [];
  }
  return [{ ...about, place: node.place, ...partsOfRule(about.action, node.entries, diagnostics) }];
}

function partsOfRule(action: Action, entries: readonly SourceEntry[], diagnostics: Diagnostic[]) {
  const recognised = entries.filter(({ key }) => isPart(action, key, diagnostics));
  const partOf = (name: string) => recognised.find(({ key }) => key.name === name)?.value;
  const conditionOf = (name: string) => {
    const node = partOf(name);
    if (node === undefined || isEmpty(name, node, 'Leave it out for every row.', diagnostics)) return null;
    return placedValue(node);
  };
  const [fields, presets] = [partOf('fields'), partOf('presets')];
  return {
    fields: fields === undefined ? null : parseFields(fields, diagnostics),
    filter: conditionOf('filter'),
    validation: conditionOf('validation'),
    presets: presets === undefined ? [] : parsePresets(presets, diagnostics),
    ...(parsePurge(partOf('purge'), diagnostics) && { purge: true as const }),
  };
}

function parsePurge(node: SourceNode | undefined, diagnostics: Diagnostic[]): boolean {
  if (node === undefined) return false;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  diagnostics.push(formError(node.place, 'The part "purge" must be true or false.', null));
  return false;
}

function isPart(action: Action, key: PlacedName, diagnostics: Diagnostic[]): boolean {
  if (rulePartsOf[action].includes(key.name)) return true;
  if (!rulePartsOf.update.includes(key.name)) return isKnownKey(key, rulePartsOf[action], diagnostics);
  const hint = action === 'create' ? 'Say under "validation" what a created row must satisfy.' : 'Remove it.';
  diagnostics.push(formError(key.place, `A rule for "${action}" has no "${key.name}".`, hint));
  return false;
}

function parseFields(node: SourceNode, diagnostics: Diagnostic[]): readonly PlacedName[] {
  if (node.kind === 'list') {
    return node.items.flatMap((item) => {
      const name = textOf(item, diagnostics);
      return name === null ? [] : [{ name, place: item.place }];
    });
  }
  if (node.kind === 'scalar' && node.value === '*') return [{ name: '*', place: node.place }];
  diagnostics.push(
    formError(node.place, 'The fields must be a list.', 'Write `fields: [id, title]` or `fields: "*"`.'),
  );
  return [];
}

function parsePresets(node: SourceNode, diagnostics: Diagnostic[]): readonly PresetSource[] {
  if (isEmpty('presets', node, 'Leave it out.', diagnostics)) return [];
  return entriesOf(node, 'The presets', diagnostics).map(({ key, value }) => ({
    field: key,
    value: placedValue(value),
  }));
}

/**
 * True, reported, for a part without a value, or with a name in it that has none. A comment may have taken its lines.
 * The rest would let other rows through, or let callers set what the server was to set.
 */
function isEmpty(part: string, node: SourceNode, hint: string, diagnostics: Diagnostic[]): boolean {
  const found = isNothing(node) ? node : emptyIn(node);
  if (found === undefined) return false;
  const problem =
    found === node
      ? formError(node.place, `The part "${part}" is empty.`, hint)
      : formError(found.place, `A name in the part "${part}" has no value.`, 'Write it, or null where that is meant.');
  diagnostics.push(problem);
  return true;
}

function emptyIn(node: SourceNode): SourceNode | undefined {
  if (node.kind === 'scalar') return node.empty && node;
  const parts = node.kind === 'map' ? node.entries.map(({ value }) => value) : node.items;
  return parts.map(emptyIn).find((found) => found !== undefined);
}

/** The rules of one role for another one, whose text is the same so many lines below. */
function repeatRules(rules: readonly RuleSource[], role: PlacedName, lines: number): readonly RuleSource[] {
  const name = ({ name, place: location }: PlacedName): PlacedName => ({ name, place: movedPlace(location, lines) });
  const value = (placed: PlacedValue): PlacedValue => ({
    ...placed,
    place: movedPlace(placed.place, lines),
    lines: placed.lines + lines,
  });
  return rules.map((like) => ({
    role,
    collection: name(like.collection),
    action: like.action,
    place: movedPlace(like.place, lines),
    fields: like.fields?.map(name) ?? null,
    filter: like.filter && value(like.filter),
    validation: like.validation && value(like.validation),
    presets: like.presets.map((preset) => ({ field: name(preset.field), value: value(preset.value) })),
    like,
  }));
}
