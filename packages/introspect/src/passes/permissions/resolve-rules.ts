import {
  type Condition,
  callerCollections,
  type Dialect,
  type FilterNames,
  type FilterProblem,
  followCallerPath,
  mustBeText,
  noCondition,
  type Operand,
  operators,
  parseFilter,
  parseOperand,
  plainCondition,
  plainOperand,
  printProblem,
  textOfDigits,
} from '@tablewright/runtime/language';
import type {
  CallSource,
  PermissionDocument,
  PlacedValue,
  PresetSource,
} from '../../config/permissions/permission-document.ts';
import { exactValue, placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { sortedBy } from '../../order.ts';
import type {
  CallPermission,
  Collection,
  Column,
  Field,
  Permission,
  RoutineArgument,
  ServedFunction,
  Table,
} from '../../schema.ts';
import { collectionsByName, namesIn } from '../lookup.ts';
import { filterNames, findMisspeltValues, holdsTexts, literalMisfit, nowMisfit, pathMisfit } from './filter-names.ts';

export interface ConditionNames {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly filter: FilterNames;
  readonly dialect: Dialect;
}

/** Reads a rule's `filter` or `validation`. A mistake is reported at its line, and the condition matches nothing. */
export function readCondition(
  source: PlacedValue,
  part: 'filter' | 'validation',
  collection: Collection,
  names: ConditionNames,
  diagnostics: Diagnostic[],
): Condition {
  const regex = part === 'validation';
  const { condition, problems } = parseFilter(exactValue(source), collection.name, names.filter, {
    regex,
    digitsAsText: true,
    complete: true,
  });
  diagnostics.push(...problems.map((problem) => describe(problem, source, part, collection, names)));
  diagnostics.push(...findMisspeltValues(source));
  return plainCondition(condition);
}

const codes = { syntax: 'filter-syntax', name: 'unknown-field', value: 'filter-value' } as const;

function describe(
  problem: FilterProblem,
  source: PlacedValue,
  part: string,
  collection: Collection,
  names: ConditionNames,
): Diagnostic {
  const { stage, path } = problem;
  const name = path.at(-1);
  const subject = name === undefined ? `The ${part}` : `"${name}" in the ${part}`;
  return {
    code: problem.name === undefined ? codes[stage] : 'dynamic-value',
    severity: 'error',
    place: placeIn(source, path),
    message: `${subject} ${printProblem(problem)}.`,
    hint: hintOf(problem, collection, names),
  };
}

function hintOf(
  { stage, path, message, name: step }: FilterProblem,
  root: Collection,
  names: ConditionNames,
): string | null {
  if (step !== undefined) return hintForStep(step, names.collections);
  const name = path.at(-1);
  if (message === mustBeText) return 'Write the value in quotes.';
  if (message === noCondition) return 'Every row meets it: complete it, or leave it out.';
  return stage === 'value' || name === undefined ? null : hintFor(name, path.slice(0, -1), root, names);
}

/** Hint for a step of a path from the caller that does not exist. */
function hintForStep(
  { collection: name, name: step }: NonNullable<FilterProblem['name']>,
  collections: ReadonlyMap<string, Collection>,
): string | null {
  const collection = collections.get(name);
  if (collection === undefined) {
    return `Fields of the caller are those of "${name}", which is not installed: run \`platform migrate\`.`;
  }
  const secret = collection.fields.find((field) => field.name === step);
  if (secret !== undefined) return `Fields of type "${secret.type}" cannot be used in conditions.`;
  return suggest(step, namesIn(collection));
}

function hintFor(name: string, path: readonly string[], root: Collection, names: ConditionNames): string | null {
  const last = path.reduce<Collection | undefined>((collection, key) => step(collection, key, names), root);
  const secret = last?.fields.find((field) => field.name === name);
  // The parser reports secret fields as unknown; authors of rules may see them.
  if (secret !== undefined) return `Fields of type "${secret.type}" cannot be used in conditions.`;
  const above = path
    .slice(0, -1)
    .reduce<Collection | undefined>((collection, key) => step(collection, key, names), root);
  return (
    hintForField(name, path.at(-1), above) ??
    suggest(name, [...(last === undefined ? [] : namesIn(last)), ...operators, '_and', '_or', '_some', '_none'])
  );
}

/** Hint for a name below a field that is no relation: a foreign key of several columns has another name than each of them. */
function hintForField(name: string, parent: string | undefined, collection: Collection | undefined): string | null {
  const field = collection?.fields.find((candidate) => candidate.name === parent);
  const isRelation = collection?.relations.some((relation) => relation.name === parent);
  const isOperator = name.startsWith('_') || operators.some((operator) => operator === `_${name}`);
  if (field === undefined || isRelation === true || isOperator) return null;
  const whole = collection?.relations.find(
    (relation) => relation.kind === 'm2o' && relation.on.some(({ from }) => from === field.column),
  );
  return `"${parent}" is a field${whole === undefined ? '' : `: the relation is "${whole.name}"`}.`;
}

function step(collection: Collection | undefined, key: string, names: ConditionNames): Collection | undefined {
  const relation = collection?.relations.find(({ name }) => name === key);
  if (relation !== undefined) return names.collections.get(relation.target);
  return key.startsWith('item:') ? names.collections.get(key.slice('item:'.length)) : collection;
}

type Preset = Permission['presets'][number];

/** Reads the values that a rule sets. Fields must exist and be writable, values must fit their type and its limits. */
export function readPresets(
  presets: readonly PresetSource[],
  collection: Collection,
  columns: readonly Column[] | undefined,
  names: ConditionNames,
  diagnostics: Diagnostic[],
  subject = 'preset',
): readonly Preset[] {
  return presets.flatMap((preset) => {
    const field = collection.fields.find(({ name }) => name === preset.field.name);
    if (field === undefined) {
      diagnostics.push(unknownPreset(preset, collection));
      return [];
    }
    const column = columns?.find(({ name }) => name === field.column);
    diagnostics.push(...findMisspeltValues(preset.value));
    const value = exactValue(preset.value);
    const parsed = parseOperand(field.type === 'string' || field.type === 'text' ? textOfDigits(value) : value);
    const reason = parsed.ok ? misfit(field, column, parsed.operand, names) : { message: parsed.message };
    if (reason !== null) diagnostics.push(wrongPreset(preset, subject, reason, names));
    return parsed.ok && reason === null
      ? [{ field: field.name, value: plainOperand(parsed.operand, isDocument(field) ? 'json' : 'field') }]
      : [];
  });
}

/** JSON within a value keeps the digits of its numbers. */
function isDocument({ type }: Field): boolean {
  return type === 'json' || type === 'composite';
}

type Misfit = Pick<FilterProblem, 'message' | 'name'>;

/** Reason why a field cannot take an operand, as the end of a sentence; null when it can. */
function misfit(field: Field, column: Column | undefined, operand: Operand, names: ConditionNames): Misfit | null {
  const message = fieldMisfit(field, column, operand, names);
  if (message !== null) return { message };
  if (operand.kind !== 'caller') return null;
  const key = operand.path.length === 0 ? names.filter.key(callerCollections[operand.of]) : [];
  // Without the tables of the platform there are no callers with a key.
  if (operand.path.length === 0 && key.length === 0) return null;
  const found = followCallerPath(names.filter, { ...operand, path: [...operand.path, ...key] });
  if ('stage' in found) return found;
  const reason = operand.path.length === 0 && holdsTexts(field) ? null : pathMisfit(field, column, found);
  return reason === null ? null : { message: reason };
}

function fieldMisfit(
  field: Field,
  column: Column | undefined,
  operand: Operand,
  { dialect }: ConditionNames,
): string | null {
  if (field.type === 'unknown' || (column !== undefined && !isWritable(column))) return unwritable(column);
  if (operand.kind === 'literal') return literalMisfit(field, column, operand.value, dialect);
  return operand.kind === 'now' ? nowMisfit(field) : null;
}

function unwritable(column: Column | undefined): string {
  const completed = column !== undefined && column.fill.kind !== 'none';
  return completed ? 'is a field that the database fills by itself' : 'is a field that cannot be written';
}

function isWritable({ fill, updatable }: Column): boolean {
  return updatable && fill.kind !== 'generated' && !(fill.kind === 'identity' && fill.always);
}

function unknownPreset({ field: { name, place: location } }: PresetSource, collection: Collection): Diagnostic {
  const message = `The collection "${collection.name}" has no field "${name}" that a preset can set.`;
  const hint = suggest(
    name,
    collection.fields.map((field) => field.name),
  );
  return { code: 'unknown-field', severity: 'error', place: location, message, hint };
}

function wrongPreset(
  { field, value }: PresetSource,
  subject: string,
  { message, name }: Misfit,
  names: ConditionNames,
): Diagnostic {
  return {
    code: name === undefined ? 'preset-value' : 'dynamic-value',
    severity: 'error',
    place: value.place,
    message: `The ${subject} "${field.name}" ${message}.`,
    hint: name === undefined ? null : hintForStep(name, names.collections),
  };
}

/** Looks up the names of the section `functions`. A role that names a function twice has the right that stands last. */
export function resolveCalls(
  { functions: sources = [] }: PermissionDocument,
  functions: readonly ServedFunction[],
  collections: readonly Collection[],
  tables: readonly Table[],
  dialect: Dialect,
) {
  const diagnostics: Diagnostic[] = [];
  if (sources.length === 0) return { calls: [], diagnostics };
  const names = {
    collections: collectionsByName(collections),
    filter: filterNames(collections, tables, dialect),
    dialect,
  };
  const byName = new Map(functions.map((entry) => [entry.name, entry]));
  const calls = sources.flatMap((source): CallPermission[] => {
    const {
      role,
      function: { name, place: location },
    } = source;
    const found = byName.get(name);
    if (found === undefined) {
      const message = `There is no function "${name}" in the API.`;
      const hint = fieldMade(name, tables) ?? suggest(name, byName.keys()) ?? nameIt;
      diagnostics.push({ code: 'function-unknown', severity: 'error', place: location, message, hint });
      return [];
    }
    diagnostics.push(...unknownArguments(source, found));
    const args = source.args.filter(isArgumentOf(found));
    const columns = found.routine.arguments.map(columnOf);
    const presets = readPresets(args, fieldsOf(found), columns, names, diagnostics, 'argument');
    return [{ role: role.name, function: name, args: presets.map(({ field, value }) => ({ name: field, value })) }];
  });
  const unique = new Map(calls.map((call) => [JSON.stringify([call.role, call.function]), call]));
  return {
    calls: sortedBy(
      [...unique.values()],
      ({ role }) => role,
      (call) => call.function,
    ),
    diagnostics,
  };
}

const nameIt = 'Name it under `functions` in platform.config.ts.';

/** Advice about a function that is a field of a collection. */
function fieldMade(name: string, tables: readonly Table[]): string | undefined {
  const field = tables.flatMap(({ columns }) => columns).find(({ computed }) => computed?.name === name);
  return field && `It is the field "${field.name}", which rules for reading grant.`;
}

function isArgumentOf({ routine }: ServedFunction) {
  return ({ field }: CallSource['args'][number]): boolean => routine.arguments.some(({ name }) => name === field.name);
}

function unknownArguments({ args }: CallSource, served: ServedFunction): readonly Diagnostic[] {
  const isKnown = isArgumentOf(served);
  const names = served.routine.arguments.map(({ name }) => name);
  return args
    .filter((arg) => !isKnown(arg))
    .map(({ field: { name, place: location } }) => ({
      code: 'function-argument',
      severity: 'error',
      place: location,
      message: `The function "${served.name}" has no argument "${name}".`,
      hint: suggest(name, names),
    }));
}

/** An argument as a column, whose type decides its values. */
function columnOf({ name, nativeType, type }: RoutineArgument): Column {
  const nothing = { fill: { kind: 'none' }, collation: null, comment: null, source: null } as const;
  return { name, nativeType, type, nullable: true, updatable: true, ...nothing };
}

/** The arguments as fields, whose values have the same rules. */
function fieldsOf({ name, routine }: ServedFunction): Collection {
  const field = (argument: RoutineArgument) => ({
    name: argument.name,
    column: argument.name,
    type: argument.type.portable,
    note: null,
    required: false,
  });
  const fields = routine.arguments.map(field);
  return { name, table: '', note: null, singleton: false, key: [], sort: null, archive: null, fields, relations: [] };
}
