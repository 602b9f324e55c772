/**
 * Requests that differ in nothing but the values of their comparisons: `filter[views][_gte]=5` and `…=7` are one
 * template with one hole. The parsed, authorised and planned result for one of them holds for all of them, as far as
 * the values are of the right types. So a known template spares everything but reading the values.
 */
import { type CreateByteCache, createByteCache } from '../../graphql/byte-cache.ts';
import { definitions, elementwise, flags, listed, type Operator, operators } from '../../language/operators/index.ts';
import { type BoundedCache, type CreateCache, createUncounted } from '../../language/values/bounded-cache.ts';
import type { JsonValue } from '../../language/values/parse-text.ts';
import type { OpenValues } from '../../query/authorise/filter.ts';
import type { PlannerOptions } from '../../query/planner.ts';
import type { FindPrepared, Prepared } from '../../query/prepared.ts';
import { encodeText, type OperandType } from '../../sql/operand.ts';

/** Values of the holes are those of the request that was planned. */
interface PlannedTemplate extends Omit<Prepared, 'open'> {
  readonly holes: readonly Hole[];
}

/** Value that a text becomes, and its encoding. */
interface Hole {
  readonly index: number;
  readonly operator: Operator;
  readonly type: OperandType;
}

/** Operators under which the form of a condition never depends on the value, for any type of the field. */
const plain = operators.filter(
  (operator) =>
    !flags.has(operator) &&
    !listed.has(operator) &&
    !elementwise.has(operator) &&
    !definitions[operator].comparisons.includes('geometry') &&
    definitions[operator].inRulesOnly !== true,
);

/**
 * A comparison in bracket form whose value is text that stands for itself: nothing percent-encoded, no dynamic value.
 * Anything else stays part of the template, and so do comparisons within JSON: there a text decides its own kind.
 */
const comparison = new RegExp(
  `((?:^|&)filter(?:\\[|%5[Bb])(?:(?!%2[Ff])[^&=/])*(?:\\[|%5[Bb])(?:${plain.join('|')})(?:\\]|%5[Dd])=)([\\w.:~-]+)(?=&|$)`,
  'g',
);

/** Query strings longer than this are parsed every time. */
const longestTemplate = 2_048;

/** Has planners keep what they planned before, also by the texts of requests. */
export function keepPlans(
  createCache: CreateCache = createUncounted,
): Required<Pick<PlannerOptions, 'createCache' | 'createFinder'>> & { createDocumentCache: CreateByteCache } {
  const createFinder = () => findByTemplate(createCache('read_templates'));
  return { createCache, createFinder, createDocumentCache: createByteCache };
}

/** Looks requests up by their templates before they are parsed. */
function findByTemplate(cache: BoundedCache<PlannedTemplate>): FindPrepared {
  return function findPrepared(selector, collection, query, prepare) {
    if (typeof query !== 'string' || query.length > longestTemplate) return prepare();
    const { text, texts } = templateOf(query);
    // The length keeps a name with a space in it from running into the query.
    const key = `${selector} ${collection.length} ${collection} ${text}`;
    const cached = cache.get(key);
    const values = cached && fillTemplate(cached, texts);
    if (cached !== undefined && values !== undefined) return { ...cached, values };
    const prepared = prepare();
    const learned = learnTemplate(prepared, texts);
    if (learned !== undefined) cache.set(key, learned);
    return prepared;
  };
}

/** Stands in the place of a text; no text of a request may hold it. */
const separator = '\0';
const noTexts: readonly string[] = [];

/** Takes the values of plain comparisons out of a query string. */
export function templateOf(query: string) {
  if (!query.includes('filter')) return { text: query, texts: noTexts };
  const texts: string[] = [];
  const text = query.replace(comparison, (whole, name: string, value: string) => {
    // Four letters that mean another comparison, unless the field holds text.
    if (value === 'null') return whole;
    texts.push(value);
    return name + separator;
  });
  return { text, texts };
}

/** Finds the values that the texts of a template became; undefined when that is not certain. */
function learnTemplate(
  { plan, values, open, size, large }: Prepared,
  texts: readonly string[],
): PlannedTemplate | undefined {
  if (texts.length > 0 && !open.comparisons.every(({ plain }) => plain)) return undefined;
  // A parameter that is given twice is a list, so one text of its own can stand for both.
  if (new Set(texts).size < texts.length) return undefined;
  const holes = texts.flatMap((text) => findHole(open, text) ?? []);
  return holes.length === texts.length
    ? { plan, values, holes, ...(size !== undefined && { size }), ...(large && { large }) }
    : undefined;
}

function findHole({ operands, comparisons }: OpenValues, text: string): Hole | undefined {
  let equal = 0;
  for (const operand of operands.keys()) if (operand.kind === 'literal' && printed(operand.value) === text) equal += 1;
  if (equal !== 1) return undefined;
  const found = comparisons.find(({ operand }) => operand.kind === 'literal' && operand.value === text);
  const index = found && operands.get(found.operand);
  return found === undefined || index === undefined ? undefined : { index, operator: found.operator, type: found.type };
}

/** Numbers that wait as their digits have no text of their own. */
function printed(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(printed).join(',');
  return JSON.isRawJSON(value) ? value.rawJSON : String(value);
}

/** The values of another request of the template; undefined when a text is no value of its type. */
function fillTemplate({ values, holes }: PlannedTemplate, texts: readonly string[]): readonly string[] | undefined {
  if (holes.length !== texts.length) return undefined;
  if (holes.length === 0) return values;
  const completed = [...values];
  for (const [position, { index, operator, type }] of holes.entries()) {
    const value = encodeText(type, operator, texts[position] ?? '');
    if (value === undefined) return undefined;
    completed[index] = value;
  }
  return completed;
}
