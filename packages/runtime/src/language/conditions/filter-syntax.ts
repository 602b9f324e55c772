/**
 * The form of a filter, judged without knowing what the names mean.
 *
 * A filter is a tree of objects. `rows` objects describe a row: names, `_and`, `_or`. `name` objects stand under a
 * name, which may be a field or a relation: operators, `_some`, `_none`, and everything a `rows` object may hold.
 */
import { isOperator, listed, type Operator } from '../operators/index.ts';
import { isObject } from '../types/decoding.ts';
import { isFieldFunction } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import { isPointer } from './filter-json.ts';
import type { FilterNames } from './filter-names.ts';
import { isDynamic, pathLength } from './operand.ts';

/** An object of a filter, as against a list or a scalar. */
export type FilterObject = { readonly [key: string]: JsonValue };

export { isObject };

/** Takes the elements of a list: an array, or the indexed object that bracket form makes of one. */
export function listOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length === 0 || !keys.every((key) => /^\d{1,6}$/.test(key))) return undefined;
  return keys.sort((a, b) => Number(a) - Number(b)).map((key) => value[key] ?? null);
}

/** Limits of a filter's form; the same as those of `QueryLimits` by these names. */
interface FilterForm {
  readonly relationalDepth: number;
  readonly filterDepth: number;
  readonly comparisons: number;
  readonly relations: number;
  readonly regex: boolean;
  readonly complete: boolean;
}

/** Predicate of an empty object. */
export const noCondition = 'has no condition';

type Report = (path: readonly string[], message: string) => void;

interface Position {
  /** The collection whose names stand here, as far as the names so far are known. */
  readonly collection: string | undefined;
  readonly path: readonly string[];
  /** Objects and lists around the position. */
  readonly depth: number;
  /** Names on the path. */
  readonly names: number;
}

/**
 * Checks the form of a filter and reports what is malformed; stops at the first problem of each branch.
 *
 * `names` decides one thing only. A key that starts with `_`, or looks like a function call, is no mistake when it is a
 * known name. Hidden and unknown names take the same way.
 */
export function checkFilterForm(
  filter: JsonValue,
  collection: string,
  names: FilterNames,
  form: FilterForm,
  report: Report,
): void {
  new FormCheck(names, form, report).checkRows(filter, { collection, path: [], depth: 0, names: 0 });
}

/** Reports what is malformed in one filter, and counts its comparisons and relations. */
class FormCheck {
  readonly #names: FilterNames;
  readonly #form: FilterForm;
  readonly #report: Report;
  #comparisons = 0;
  #relations = 0;

  constructor(names: FilterNames, form: FilterForm, report: Report) {
    this.#names = names;
    this.#form = form;
    this.#report = report;
  }

  #isKnown(name: string, { collection }: Position): boolean {
    if (collection === undefined) return false;
    return this.#names.field(collection, name) !== undefined || this.#names.relation(collection, name) !== undefined;
  }

  #targetOf(name: string, { collection }: Position): string | undefined {
    if (name.startsWith('item:')) return name.slice('item:'.length);
    return collection === undefined ? undefined : this.#names.relation(collection, name)?.target;
  }

  checkRows(value: JsonValue, position: Position): void {
    if (!isObject(value)) {
      this.#report(position.path, 'must be an object');
      return;
    }
    if (position.depth > this.#form.filterDepth) {
      this.#report(position.path, 'nests too deep');
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      const next = { ...position, path: [...position.path, key], depth: position.depth + 1 };
      if (key === '_and' || key === '_or') this.#checkList(inner, next, false);
      else this.#checkName(key, inner, next);
    }
  }

  #checkList(value: JsonValue, position: Position, isUnderName: boolean): void {
    const elements = listOf(value);
    if (elements === undefined) {
      this.#report(position.path, 'must be an array');
      return;
    }
    for (const [index, element] of elements.entries()) {
      const next = { ...position, path: [...position.path, String(index)], depth: position.depth + 1 };
      this.#checkComplete(element, next);
      if (isUnderName) this.#checkObjectUnderName(element, next);
      else this.checkRows(element, next);
    }
  }

  #checkName(key: string, value: JsonValue, position: Position): void {
    if (isOperator(key)) {
      this.#report(position.path, 'is an operator and must stand under a field');
      return;
    }
    if (key.startsWith('_') && !this.#isKnown(key, position)) {
      this.#report(position.path, 'is not an operator');
      return;
    }
    const call = this.#isKnown(key, position) ? undefined : parseCall(key);
    if (call !== undefined && !isFieldFunction(call.function)) {
      this.#report(position.path, 'is not a function');
      return;
    }
    if (position.names >= this.#form.relationalDepth) {
      this.#report(position.path, 'names too many relations');
      return;
    }
    if (call !== undefined) this.#countRelation(position);
    const collection = this.#targetOf(key, position);
    // Below a relation, an empty object looks for any related item.
    if (collection === undefined) this.#checkComplete(value, position);
    this.#checkUnderName(value, { ...position, collection, names: position.names + 1 });
  }

  #checkComplete(value: JsonValue, { path }: Position): void {
    if (this.#form.complete && isObject(value) && Object.keys(value).length === 0) this.#report(path, noCondition);
  }

  #checkUnderName(value: JsonValue, position: Position): void {
    if (Array.isArray(value)) {
      this.#report(position.path, 'needs an operator for an array');
      return;
    }
    if (!isObject(value)) {
      this.#countComparison(position);
      this.#checkPaths([value], position);
      return;
    }
    if (position.depth > this.#form.filterDepth) {
      this.#report(position.path, 'nests too deep');
      return;
    }
    const entries = Object.entries(value);
    if (entries.length === 0 || entries.some(([key]) => describesRow(key))) this.#countRelation(position);
    for (const [key, inner] of entries) {
      const next = { ...position, path: [...position.path, key], depth: position.depth + 1 };
      if (key === '_and' || key === '_or') this.#checkList(inner, next, true);
      else if (key === '_some' || key === '_none') this.#checkQuantified(inner, next);
      else if (isOperator(key)) this.#checkOperator(key, inner, next);
      else this.#checkName(key, inner, next);
    }
  }

  #checkQuantified(value: JsonValue, position: Position): void {
    this.#countRelation(position);
    this.checkRows(value, position);
  }

  #checkObjectUnderName(value: JsonValue, position: Position): void {
    if (isObject(value)) this.#checkUnderName(value, position);
    else this.#report(position.path, 'must be an object');
  }

  #checkOperator(operator: Operator, value: JsonValue, position: Position): void {
    if (operator === '_regex' && !this.#form.regex) {
      this.#report(position.path, 'is only available in validation rules');
      return;
    }
    this.#countComparison(position, comparisonsOf(operator, value));
    this.#checkPaths(operandsOf(operator, value), position);
  }

  /** A path from the caller leads through relations like one of the filter's own. */
  #checkPaths(values: readonly JsonValue[], position: Position): void {
    for (const value of values) {
      const names = pathLength(value);
      if (names > this.#form.relationalDepth) this.#report(position.path, 'follows a path through too many relations');
      for (let relation = 0; relation < names; relation++) this.#countRelation(position);
    }
  }

  #countComparison(position: Position, count = 1): void {
    const before = this.#comparisons;
    this.#comparisons += count;
    if (before <= this.#form.comparisons && this.#comparisons > this.#form.comparisons) {
      this.#report(position.path, 'is one comparison too many');
    }
  }

  #countRelation(position: Position): void {
    this.#relations += 1;
    if (this.#relations === this.#form.relations + 1) this.#report(position.path, 'is one relation too many');
  }
}

/** A list that holds dynamic values becomes one comparison per element; any other operand is one. */
function comparisonsOf(operator: Operator, value: JsonValue): number {
  const elements = operandsOf(operator, value);
  return elements.some(isDynamic) ? elements.length : 1;
}

function operandsOf(operator: Operator, value: JsonValue): readonly JsonValue[] {
  if (!listed.has(operator)) return [value];
  return typeof value === 'string' ? value.split(',') : (listOf(value) ?? []);
}

/** True if a key under a name describes the row that the name leads to, and not the name's own value. */
function describesRow(key: string): boolean {
  return !isOperator(key) && !isPointer(key) && key !== '_some' && key !== '_none';
}

/** Splits `year(released)`; undefined when the name has no such form. */
export function parseCall(name: string) {
  if (!name.endsWith(')')) return undefined;
  const match = /^([A-Za-z_]\w*)\((.*)\)$/s.exec(name);
  return match === null ? undefined : { function: match[1] ?? '', argument: match[2] ?? '' };
}
