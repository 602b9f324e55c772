import { defaultQueryLimits, type QueryLimits } from '../descriptors/limits.ts';
import type { JsonValue } from '../values/parse-text.ts';
import { type Condition, never } from './condition.ts';
import type { FilterNames, FilterProblem } from './filter-names.ts';
import { readRows } from './filter-rows.ts';
import { checkFilterForm } from './filter-syntax.ts';

/** Options for reading a filter. */
export interface FilterOptions {
  /** Accepts `_regex`, for validation rules. */
  readonly regex?: boolean;
  /** Values are text of a query string, which the type of the field converts. */
  readonly text?: boolean;
  /** Whole numbers are text where text is compared: people who write rules forget quotes. */
  readonly digitsAsText?: boolean;
  /** Refuses empty objects that every row meets, in lists and below fields: a rule with them has lost a part. */
  readonly complete?: boolean;
  /** Collections of `item` when the filter describes link rows of a many-to-any. */
  readonly links?: readonly string[];
  readonly limits?: QueryLimits;
  /** Names that paths from the caller are looked up in; `names` when absent. */
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
 * `_nempty` carry the literal `true`, `_in` and `_between` literal arrays. Lists with dynamic values are spread into
 * single comparisons. Under a many-to-any, `item:<collection>` becomes `related` with the relation `item`. A relation
 * whose target's key is to be null becomes an alternative: an item that meets the condition, or none at all.
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
    complete: options.complete === true,
  };
  checkFilterForm(input, collection, names, form, (path, message) => problems.push({ stage: 'syntax', path, message }));
}

export type { Condition, JsonValue };
