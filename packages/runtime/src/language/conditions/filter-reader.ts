import type { Operator } from '../operators/index.ts';
import type { FieldFunction } from '../types/definition.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import { type Condition, never } from './condition.ts';
import type { FilterNames, FilterProblem } from './filter-names.ts';
import { listOf } from './filter-syntax.ts';

/** State that the readers of a filter's parts share. */
export interface Reader {
  readonly names: FilterNames;
  /** Names that paths from the caller use. */
  readonly callers: FilterNames;
  readonly text: boolean;
  readonly digitsAsText: boolean;
  readonly problems: FilterProblem[];
}

/** Place of a part of the filter. `links` are the collections of `item` when rows of a many-to-any are described. */
export interface Place {
  readonly collection: string;
  readonly path: readonly string[];
  readonly links?: readonly string[];
}

/** The left-hand side of comparisons. */
export interface Compared {
  readonly field: string;
  readonly function?: FieldFunction;
  /** Looks into JSON. */
  readonly path?: readonly string[];
  /** Set where the path leads through members of composite values. */
  readonly members?: true;
  readonly type: ValueType;
}

/** A comparison that is being read: its left-hand side, its operator, and the place of its right-hand side. */
export interface Comparing {
  readonly reader: Reader;
  readonly compared: Compared;
  readonly operator: Operator;
  readonly location: Place;
}

/** Notes a problem with the right-hand side, and returns a condition that matches nothing. */
export function refuse({ reader, location }: Comparing, message: string): Condition {
  return problem(reader, 'value', location.path, message);
}

/** Notes a problem, and returns a condition that matches nothing. */
export function problem(reader: Reader, stage: 'name' | 'value', path: readonly string[], message: string): Condition {
  reader.problems.push({ stage, path, message });
  return never;
}

/** Notes a value that does not fit, and returns a condition that matches nothing. */
export function valueProblem(reader: Reader, path: readonly string[], message: string, value: JsonValue): Condition {
  reader.problems.push({ stage: 'value', path, message, value });
  return never;
}

/** The location of a key below another location. */
export function below(location: Place, key: string): Place {
  return { ...location, path: [...location.path, key] };
}

export function all(parts: readonly Condition[]): Condition {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind: 'and', of: parts };
}

export function readList(
  key: '_and' | '_or',
  value: JsonValue,
  location: Place,
  read: (element: JsonValue, location: Place) => Condition,
): Condition {
  const elements = listOf(value) ?? [];
  const conditions = elements.map((element, index) => read(element, below(location, String(index))));
  return { kind: key === '_and' ? 'and' : 'or', of: conditions };
}
