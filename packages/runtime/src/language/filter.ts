import { type Condition, never } from './condition.ts';
import { readRows } from './filter-rows.ts';
import { checkFilterForm } from './filter-syntax.ts';
import type { JsonValue } from './json.ts';
import { defaultQueryLimits, type QueryLimits } from './limits.ts';
import type { PortableType } from './types/index.ts';

/** A field as filters see it. */
export interface NamedField {
  readonly type: PortableType;
  readonly values?: readonly string[];
  readonly element?: PortableType;
  /** As `FieldDescriptor.native`; narrows the values where the portable type is wider. */
  readonly native?: string;
  /** As `FieldDescriptor.range`. */
  readonly range?: string;
}

/** A relation as filters see it. `targets` are the allowed collections of a many-to-any. */
export interface NamedRelation {
  readonly kind: 'm2o' | 'o2m' | 'm2m' | 'm2a';
  readonly target: string;
  readonly targets?: readonly string[];
}

/**
 * The names a filter can use. A name that a caller may not use is not found: hidden and unknown take the same way.
 */
export interface FilterNames {
  field(collection: string, name: string): NamedField | undefined;
  relation(collection: string, name: string): NamedRelation | undefined;
  /** Field names of the key of a collection; empty when it has none. */
  key(collection: string): readonly string[];
}

/**
 * One thing wrong with a filter. Callers answer the first stage that has a problem: `syntax` (unknown operator,
 * malformed), `name` (unknown or hidden), `value` (operator or value does not fit the type).
 */
export interface FilterProblem {
  readonly stage: 'syntax' | 'name' | 'value';
  /** Keys from the root of the filter, for messages: `['author_id', 'name', '_eq']`. */
  readonly path: readonly string[];
  readonly message: string;
  /** The name that does not exist, when it is a step of a path from the caller and so no key of the filter. */
  readonly name?: { readonly collection: string; readonly name: string };
}

/** How a filter is read. */
export interface FilterOptions {
  /** Accepts `_regex`, for validation rules. */
  readonly regex?: boolean;
  /** Values are text of a query string, which the type of the field converts. */
  readonly text?: boolean;
  /** Whole numbers are text where text is compared: people who write rules forget quotes. */
  readonly digitsAsText?: boolean;
  /** Collections of `item` when the filter describes link rows of a many-to-any. */
  readonly links?: readonly string[];
  readonly limits?: QueryLimits;
  /** Where paths from the caller are looked up; `names` when absent. */
  readonly callers?: FilterNames;
}

/** A filter in normal form. With problems, `condition` matches nothing. */
export interface ParsedFilter {
  readonly condition: Condition;
  readonly problems: readonly FilterProblem[];
}

/**
 * Reads a filter as people write it (API specification, section 5.2) into the normal form.
 *
 * The form is judged first, and names and values only when it holds. In the result `_null`, `_nnull`, `_empty` and
 * `_nempty` carry the literal `true`, `_in` and `_between` literal arrays; lists with dynamic values are spread into
 * single comparisons. Under a many-to-any, `item:<collection>` becomes `related` with the relation `item`. A relation whose
 * target's key is to be null becomes an alternative: an item that meets the condition, or none at all.
 */
export function parseFilter(
  input: JsonValue,
  collection: string,
  names: FilterNames,
  options: FilterOptions = {},
): ParsedFilter {
  const problems: FilterProblem[] = [];
  checkForm(input, collection, names, options, problems);
  if (problems.length > 0) return { condition: never, problems };
  const location = { collection, path: [], ...(options.links && { links: options.links }) };
  const { callers = names, text = false, digitsAsText = false } = options;
  const condition = readRows({ names, callers, text, digitsAsText, problems }, input, location);
  return { condition: problems.length > 0 ? never : condition, problems };
}

function checkForm(
  input: JsonValue,
  collection: string,
  names: FilterNames,
  options: FilterOptions,
  problems: FilterProblem[],
): void {
  const limits = options.limits ?? defaultQueryLimits;
  const form = {
    relationalDepth: limits.relationalDepth,
    filterDepth: limits.filterDepth,
    comparisons: limits.comparisons,
    relations: limits.filterRelations,
    regex: options.regex === true,
  };
  checkFilterForm(input, collection, names, form, (path, message) => problems.push({ stage: 'syntax', path, message }));
}

export type { Condition, JsonValue };
