import type { Condition, FilterNames, FilterProblem } from '@tablewright/runtime/language';
import { mustBeText, operators, parseFilter, plainCondition } from '@tablewright/runtime/language';
import type { PlacedValue } from '../../config/permissions/permission-document.ts';
import { exactValue, placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import type { Collection } from '../../schema.ts';
import { namesIn } from '../lookup.ts';
import { findMisspeltValues } from './misfits.ts';

/** Where the names of a condition are looked up. */
export interface ConditionNames {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly filter: FilterNames;
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
  const { stage, path, message } = problem;
  const name = path.at(-1);
  const subject = name === undefined ? `The ${part}` : `"${name}" in the ${part}`;
  return {
    code: problem.name === undefined ? codes[stage] : 'dynamic-value',
    severity: 'error',
    place: placeIn(source, path),
    message: `${subject} ${message}.`,
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
  return stage === 'value' || name === undefined ? null : hintFor(name, path.slice(0, -1), root, names);
}

/** Hint for a step of a path from the caller that does not exist. */
export function hintForStep(
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
  return suggest(name, [...(last === undefined ? [] : namesIn(last)), ...operators, '_and', '_or', '_some', '_none']);
}

function step(collection: Collection | undefined, key: string, names: ConditionNames): Collection | undefined {
  const relation = collection?.relations.find(({ name }) => name === key);
  if (relation !== undefined) return names.collections.get(relation.target);
  return key.startsWith('item:') ? names.collections.get(key.slice('item:'.length)) : collection;
}
