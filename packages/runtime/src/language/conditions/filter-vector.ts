import { vectorMetrics } from '../types/definition.ts';
import type { JsonValue } from '../values/json.ts';
import { decodeValue } from '../values/values.ts';
import type { Condition, Operand } from './condition.ts';
import { numberIn, numbersIn, parsed } from './filter-geometry.ts';
import { type Compared, type Place, problem, type Reader } from './filter-reader.ts';
import { isObject } from './filter-syntax.ts';
import { isDynamic } from './operand.ts';

/** Reads the vector of a `_near`: a list of its text, the metric and, where there is one, the greatest distance. */
export function readNeighbour(reader: Reader, { type }: Compared, value: JsonValue, location: Place): Operand {
  const refuse = (message: string): Operand => {
    problem(reader, 'value', location.path, message);
    return { kind: 'literal', value: [] };
  };
  if (isDynamic(value)) return refuse('takes no dynamic values');
  const read = parsed(reader, value);
  if (!isObject(read)) return refuse('must be an object with "to"');
  const { metrics = vectorMetrics, metric: usual = 'cosine' } = type.vector ?? {};
  const { to = null, metric: written = usual, within = null, ...others } = read;
  if (Object.keys(others).length > 0) return refuse('must be an object with "to", "metric" and "within"');
  const metric = metrics.find((name) => name === written);
  if (metric === undefined) return refuse(`must have one of the metrics ${metrics.join(', ')}`);
  const numbers = numbersIn(reader, parsed(reader, to));
  const vector = decodeValue(type, numbers);
  if (!vector.ok) return refuse(`has "to", which ${vector.message}`);
  const isZero = Array.isArray(numbers) && numbers.every((number: JsonValue) => number === 0);
  if (metric === 'cosine' && isZero) return refuse('must have "to" with a direction');
  if (within === null) return { kind: 'literal', value: [vector.value, metric] };
  const distance = numberIn(reader, within);
  if (distance === undefined || (distance < 0 && metric !== 'inner'))
    return refuse('must have "within", which is a distance');
  return { kind: 'literal', value: [vector.value, metric, distance] };
}

/** Vectors that a condition on rows only orders by: those of a `_near` without a distance. */
export function neighboursIn(condition: Condition): readonly Extract<Condition, { kind: 'compare' }>[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap(neighboursIn);
  return condition.kind === 'compare' && isUnbounded(condition) ? [condition] : [];
}

/** True for a `_near` of a vector that has no distance. */
export function isUnbounded({ operator, operand }: Extract<Condition, { kind: 'compare' }>): boolean {
  if (operator !== '_near' || operand.kind !== 'literal' || !Array.isArray(operand.value)) return false;
  return operand.value.length === 2 && typeof operand.value[1] === 'string';
}
