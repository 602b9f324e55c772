/** Whether a condition holds on a row (API specification, sections 5.2 and 5.3). */
import { type Comparison, type Condition, type Eyes, type LinkRelation, readFilter } from './conditions.ts';
import { functionOf } from './functions.ts';
import { compareValues, isText, isValueOf } from './values.ts';
import {
  type Asker,
  type CellType,
  columnOf,
  type Json,
  type JsonObject,
  type Row,
  relationOf,
  type Table,
} from './world.ts';

/** A filter judged on one row, with the eyes and the keys of whoever asks. */
export function matches(
  eyes: Eyes,
  asker: Asker,
  table: Table,
  row: Row,
  filter: JsonObject | undefined,
  link?: LinkRelation,
): boolean {
  if (filter === undefined) return true;
  return holds({ eyes, asker }, table, row, readFilter(eyes, { table, ...(link && { link }) }, filter));
}

/** A rule judged on one row: where it uses a value of the caller that is missing, it is false as a whole. */
export function ruleMatches(eyes: Eyes, asker: Asker, table: Table, row: Row, filter: JsonObject | null): boolean {
  if (filter === null) return true;
  const condition = readFilter(eyes, { table }, filter);
  return !usesMissing({ eyes, asker }, table, condition) && holds({ eyes, asker }, table, row, condition);
}

interface Judge {
  readonly eyes: Eyes;
  readonly asker: Asker;
}

function holds(judge: Judge, table: Table, row: Row, condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.of.every((part) => holds(judge, table, row, part));
    case 'any':
      return condition.of.some((part) => holds(judge, table, row, part));
    case 'compare':
      return compares(judge, table, row, condition);
    case 'rows':
      return rowsHold(judge, table, row, condition);
    case 'item': {
      const item = judge.eyes.item(condition.link, row, condition.target);
      if (item === null) return false;
      const target = judge.eyes.tables(condition.target);
      return item === undefined ? holdsWithout(target, condition.where) : holds(judge, target, item, condition.where);
    }
  }
}

/** On a row whose cell of the relation is hidden no quantifier holds. */
function rowsHold(judge: Judge, table: Table, row: Row, condition: Extract<Condition, { kind: 'rows' }>): boolean {
  const related = judge.eyes.related(table, row, condition.relation);
  if (related === null) return false;
  const target = judge.eyes.tables(condition.relation.target);
  const found = related.some((one) => holds(judge, target, one, condition.where));
  if (condition.quantifier === 'some') return found;
  if (condition.quantifier === 'any') return found || (related.length === 0 && holdsWithout(target, condition.where));
  return !found && !usesMissing(judge, target, condition.where);
}

/** Whether a condition on related rows holds where there is none: nothing but the key is known then, which is null. */
function holdsWithout(table: Table, condition: Condition): boolean {
  if (condition.kind === 'any') return condition.of.some((part) => holdsWithout(table, part));
  if (condition.kind === 'all') {
    const parts = condition.of.filter((part) => !saysNothing(part));
    return parts.length > 0 && parts.every((part) => holdsWithout(table, part));
  }
  if (condition.kind !== 'compare' || condition.call !== null || !table.key.includes(condition.field)) return false;
  const { operator, value } = condition;
  if (operator === '_eq') return value === null;
  return (operator === '_null' || operator === '_nnull') && (operator === '_null') === (value !== false);
}

function saysNothing(condition: Condition): boolean {
  return condition.kind === 'all' && condition.of.every(saysNothing);
}

/** Whether a condition names a value of the caller that the caller does not have. */
function usesMissing(judge: Judge, table: Table, condition: Condition): boolean {
  const { eyes } = judge;
  if (condition.kind === 'rows') return usesMissing(judge, eyes.tables(condition.relation.target), condition.where);
  if (condition.kind === 'item') return usesMissing(judge, eyes.tables(condition.target), condition.where);
  if (condition.kind !== 'compare') return condition.of.some((part) => usesMissing(judge, table, part));
  const type = columnOf(table, condition.field)?.type ?? 'integer';
  const values = Array.isArray(condition.value) ? condition.value : [condition.value];
  return values.some((value) => resolve(judge.asker, type, value) === undefined);
}

/** A value as it is compared; undefined when it is one of the caller's and missing. */
function resolve({ user, role }: Asker, type: CellType, value: Json): Json | undefined {
  if (value !== '$CURRENT_USER' && value !== '$CURRENT_ROLE') return value;
  const own = value === '$CURRENT_USER' ? user : role;
  if (own === null || !isValueOf(type, own)) return undefined;
  return type === 'integer' ? Number(own) : own;
}

function compares({ eyes, asker }: Judge, table: Table, row: Row, comparison: Comparison): boolean {
  const { field, call, operator, value } = comparison;
  const cell = call === null ? eyes.cell(table, row, field) : functionOf(eyes, table, row, call, field);
  const type = call === null ? (columnOf(table, field)?.type ?? 'integer') : 'integer';
  if (call === null && columnOf(table, field) === undefined && relationOf(table, field) !== undefined) {
    throw new Error(`a relation of several columns has no operators: ${field}`);
  }
  return operate(asker, type, cell, operator, value);
}

function operate(asker: Asker, type: CellType, cell: Json, operator: string, value: Json): boolean {
  const flag = value !== false && value !== 'false';
  if (operator === '_null' || (operator === '_eq' && value === null)) return (cell === null) === flag;
  if (operator === '_nnull' || (operator === '_neq' && value === null))
    return (cell !== null) === (flag || value === null);
  if (operator === '_empty') return (cell === null || cell === '') === flag;
  if (operator === '_nempty') return (cell !== null && cell !== '') === flag;
  if (operator === '_nin' && Array.isArray(value) && value.length === 0) return true;
  if (cell === null) return false;
  if (/^_n?has/.test(operator)) return hasElements(cell, operator, value);
  const order = (of: Json): number => {
    const own = resolve(asker, type, of);
    return own === undefined || own === null ? Number.NaN : compareToLiteral(type, cell, own);
  };
  const list = Array.isArray(value) ? value : [value];
  const orders = list.map(order);
  const [first = Number.NaN, second = Number.NaN] = orders;
  switch (operator) {
    case '_eq':
      return first === 0;
    case '_neq':
      return first < 0 || first > 0;
    case '_lt':
      return first < 0;
    case '_lte':
      return first <= 0;
    case '_gt':
      return first > 0;
    case '_gte':
      return first >= 0;
    case '_in':
      return orders.includes(0);
    case '_nin':
      return orders.every((one) => one < 0 || one > 0);
    case '_between':
      return first >= 0 && second <= 0;
    case '_nbetween':
      return first < 0 || second > 0;
    default:
      if (!isText(type)) throw new Error(`no operator ${operator} for ${type}`);
      return looksLike(String(cell), operator, String(value));
  }
}

/** Whether a list has one element, some of several, or all of them; what is no list is not true of any operator. */
function hasElements(cell: Json, operator: string, value: Json): boolean {
  const [, negated, quantifier] = /^_(n?)has(_any|_all)?$/.exec(operator) ?? [];
  if (!Array.isArray(cell)) return false;
  const wanted: readonly Json[] = Array.isArray(value) ? value : [value];
  const has = (one: Json): boolean => cell.includes(one);
  return (quantifier === '_any' ? wanted.some(has) : wanted.every(has)) === (negated === '');
}

/** `$NOW` lies between everything in the past and everything in the future; the pools hold nothing near it. */
function compareToLiteral(type: CellType, cell: Json, value: Json): number {
  if (typeof value === 'string' && value.startsWith('$NOW')) {
    const years = Number(/^\$NOW\((-?\d+) years\)$/.exec(value)?.[1] ?? 0);
    const moment = new Date();
    moment.setUTCFullYear(moment.getUTCFullYear() + years);
    return Date.parse(String(cell)) - moment.getTime();
  }
  return compareValues(type, cell, value);
}

/** The text operators: `n` negates, `i` ignores case. */
function looksLike(cell: string, operator: string, value: string): boolean {
  const [, negated, blind, form] = /^_(n?)(i?)(contains|starts_with|ends_with)$/.exec(operator) ?? [];
  if (form === undefined) throw new Error(`unknown operator ${operator}`);
  const [text, part] = blind === 'i' ? [cell.toLowerCase(), value.toLowerCase()] : [cell, value];
  const like =
    form === 'contains' ? text.includes(part) : form === 'starts_with' ? text.startsWith(part) : text.endsWith(part);
  return like === (negated === '');
}
