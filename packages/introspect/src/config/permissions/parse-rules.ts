import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { entriesOf, formError, isKnownKey, isNothing, placedValue, textOf } from '../yaml/placed-value.ts';
import { movedPlace, type PlacedName, type SourceEntry, type SourceNode } from '../yaml/source.ts';
import { isKnownRole } from './parse-roles.ts';
import {
  type Action,
  actions,
  type PlacedValue,
  type PresetSource,
  type RoleSource,
  type RuleSource,
} from './permission-document.ts';

/** Reads the section `permissions`: role → collection → action → one rule or a list of them. */
export function parseRules(
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
      const rules = parseRole(role, diagnostics);
      if (diagnostics.length === before) faultless.set(role, rules);
      return rules;
    });
}

function parseRole({ key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly RuleSource[] {
  return entriesOf(value, `The role "${key.name}"`, diagnostics).flatMap((collection) =>
    parseCollection(key, collection, diagnostics),
  );
}

function parseCollection(role: PlacedName, collection: SourceEntry, diagnostics: Diagnostic[]): readonly RuleSource[] {
  const entries = entriesOf(collection.value, `The collection "${collection.key.name}"`, diagnostics);
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
    return node === undefined || isNothing(node) ? null : placedValue(node);
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
  return entriesOf(node, 'The presets', diagnostics).map(({ key, value }) => ({
    field: key,
    value: placedValue(value),
  }));
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
