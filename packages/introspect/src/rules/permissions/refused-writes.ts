/** Rules for writes that the database always refuses. */
import { type Condition, type Operand, types } from '@tablewright/runtime/language';
import { type ColumnFacts, type FactsIndex, indexFacts } from '../../conditions/column-facts.ts';
import { findContradiction } from '../../conditions/contradiction.ts';
import type { RuleSource } from '../../config/permissions/permission-document.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { collectionsByName, manyToOnesOf } from '../../passes/lookup.ts';
import type { Collection, Permission } from '../../schema.ts';
import { keyOf, pairRules, quotedList, type Rule, type RuledPermission } from '../rule.ts';

/** A value that only this rule sets, and that the rule's own check always refuses. */
export const refusedPresets: Rule = (schema, { permissions }) => {
  const index = indexFacts(schema);
  const groups = Map.groupBy(pairRules(schema, permissions), ({ permission }) => keyOf(permission));
  return [...groups.values()].flatMap((group) =>
    group.flatMap((rule) => {
      const others = group.filter((other) => other !== rule);
      return rule.permission.presets.flatMap((preset) => problemOf(rule, preset, others, index));
    }),
  );
};

type Preset = Permission['presets'][number];

function problemOf(
  { source, permission }: RuledPermission,
  { field, value }: Preset,
  others: readonly RuledPermission[],
  index: FactsIndex,
): readonly Diagnostic[] {
  const check = permission.check ?? permission.where;
  const result = equation(field, value, index.facts(permission.collection, field, undefined));
  if (result === null || mayBeWritten(field, permission, others)) return [];
  if (findContradiction(index, permission.collection, [check]) !== null) return [];
  const reason = findContradiction(index, permission.collection, [check, result]);
  if (reason === null) return [];
  const written = source.presets.find((preset) => preset.field.name === field);
  return [
    {
      code: 'refused-preset',
      severity: 'warning',
      place: written?.field.place ?? source.place,
      message: `The rule always refuses what its preset sets: ${reason}.`,
      hint: permission.check === null ? 'Say under `validation` what the written row must satisfy.' : null,
    },
  ];
}

/** True if the field may hold something else: sent by the client, or set by another rule. */
function mayBeWritten(field: string, ownRule: Permission, others: readonly RuledPermission[]): boolean {
  const writes = ({ fields }: Permission) => fields.includes(field);
  const sets = ({ presets }: Permission) => presets.some((preset) => preset.field === field);
  return writes(ownRule) || others.some(({ permission }) => writes(permission) || sets(permission));
}

/** Value of the field in the written row; null where the column may round or cut it, or where the request decides. */
function equation(field: string, operand: Operand, facts: ColumnFacts | undefined): Condition | null {
  if (operand.kind !== 'literal' || facts === undefined) return null;
  const { value } = operand;
  const truth: Operand = { kind: 'literal', value: true };
  if (value === null) return { kind: 'compare', field, operator: '_null', operand: truth };
  const cut = typeof value === 'string' && value.endsWith(' ');
  return types[facts.type.type].isKept === true && !cut ? { kind: 'compare', field, operator: '_eq', operand } : null;
}

/** The rules by which a role creates items must cover every required field, by `fields` or presets. */
export const incompleteCreates: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const creates = schema.permissions.filter(({ action, fields }) => action === 'create' && fields.length > 0);
  return [...Map.groupBy(creates, ({ role, collection }) => JSON.stringify([role, collection])).values()].flatMap(
    ([first, ...others]) => {
      const collection = collections.get(first?.collection ?? '');
      if (first === undefined || collection === undefined) return [];
      const missing = missingFields(collection, [first, ...others]);
      // Few rules are to be complained about, so these only are looked for in the file.
      const rule = missing.length === 0 ? undefined : permissions.rules.find((candidate) => isSource(candidate, first));
      return rule === undefined ? [] : [incomplete(rule, missing, hintFor(collection, missing))];
    },
  );
};

function missingFields(collection: Collection, rules: readonly Permission[]): readonly string[] {
  const settable = new Set(rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]));
  // Writing a composite many-to-one writes its columns.
  const linked = manyToOnesOf(collection).filter(({ name }) => settable.has(name));
  const columns = new Set(linked.flatMap(({ on }) => on.map(({ from }) => from)));
  return collection.fields
    .filter(
      ({ required, name, column, type }) =>
        required && (type === 'unknown' || !settable.has(name)) && !columns.has(column),
    )
    .map(({ name }) => name)
    .filter((name) => !isOfUpload(collection, name));
}

/** True for the name of a file, which comes with its content. */
function isOfUpload({ name, system }: Collection, field: string): boolean {
  return system !== undefined && name === 'platform_files' && field === 'filename_download';
}

/** Advice about missing fields: a type without a portable form is written by no rule. */
function hintFor({ fields }: Collection, missing: readonly string[]): string {
  const unwritten = fields.filter(({ name, type }) => missing.includes(name) && type === 'unknown');
  if (unwritten.length === 0) return 'Add it to `fields` or set it under `presets`.';
  const names = quotedList(unwritten.map(({ name }) => name));
  return `No request writes the type of ${names}: give it a default, or generate it from columns of other types.`;
}

function isSource(rule: RuleSource, { role, collection }: Permission): boolean {
  return rule.action === 'create' && rule.role.name === role && rule.collection.name === collection;
}

function incomplete({ role, collection, place: location }: RuleSource, missing: readonly string[], hint: string) {
  return {
    code: 'incomplete-create',
    severity: 'warning' as const,
    place: location,
    message: `"${role.name}" can never create "${collection.name}": ${quotedList(missing)} must be given but may not.`,
    hint,
  };
}
