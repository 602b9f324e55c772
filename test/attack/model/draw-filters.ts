/** Draws filters over the names that somebody has, for rules and for requests. */
import type { Draw } from './draw.ts';
import { isText, ordered, pools } from './values.ts';
import {
  type Column,
  columnOf,
  type Json,
  type JsonObject,
  namesOf,
  type Relation,
  relationOf,
  type Table,
} from './world.ts';

/** Which names a filter may use. */
export interface Names {
  readonly tables: (name: string) => Table;
  has(table: Table, name: string): boolean;
  reads(table: string): boolean;
}

const dated = ['year', 'month', 'week', 'day', 'weekday'];
const timed = ['hour', 'minute', 'second'];

/** Draws a filter with so many levels of groups and relations at most. */
export function drawFilter(draw: Draw, names: Names, table: Table, depth: number): JsonObject {
  const parts = Array.from({ length: draw.pick([1, 1, 2]) }, () => drawPart(draw, names, table, depth));
  return Object.assign({}, ...parts);
}

function drawPart(draw: Draw, names: Names, table: Table, depth: number): JsonObject {
  const own = namesOf(table).filter((name) => names.has(table, name));
  const fields = own.filter((name) => columnOf(table, name) !== undefined && columnOf(table, name)?.type !== 'secret');
  const relations = own.filter((name) => names.reads(relationOf(table, name)?.target ?? ''));
  if (depth > 0 && draw.chance(25)) return drawGroup(draw, () => drawFilter(draw, names, table, depth - 1));
  if (depth > 0 && relations.length > 0 && draw.chance(45))
    return drawRelated(draw, names, table, draw.pick(relations), depth);
  if (fields.length === 0) return draw.chance(50) ? {} : { _and: [] };
  const column = columnOf(table, draw.pick(fields));
  return column === undefined ? {} : drawField(draw, column);
}

/** A group of conditions; some are empty. */
function drawGroup(draw: Draw, part: () => JsonObject): JsonObject {
  const size = draw.pick([2, 1, 3, 0]);
  return { [draw.pick(['_or', '_and'])]: Array.from({ length: size }, part) };
}

function drawField(draw: Draw, column: Column): JsonObject {
  const { name, type } = column;
  const isDate = type === 'date' || type === 'timestamp';
  if (isDate && draw.chance(20)) {
    const call = draw.pick(type === 'date' ? dated : [...dated, ...timed]);
    return { [`${call}(${name})`]: { [draw.pick(['_gte', '_lt', '_neq'])]: draw.pick([2021, 6, 30, 1, 0]) } };
  }
  if ((type === 'json' || type === 'array') && draw.chance(50))
    return { [`count(${name})`]: { _gte: draw.integer(0, 2) } };
  const value = draw.pick(pools[type]);
  if (type !== 'json' && type !== 'array' && draw.chance(15)) return { [name]: value };
  if (draw.chance(12)) return { [name]: drawGroup(draw, () => drawOperator(draw, column)) };
  return { [name]: drawOperator(draw, column) };
}

const textOperators = ['contains', 'starts_with', 'ends_with'].flatMap((form) =>
  ['_', '_n', '_i', '_ni'].map((prefix) => prefix + form).filter((name) => name !== '_nicontains'),
);

/** Operators of lists: additions for arrays, and for JSON that is one. */
function drawElements(draw: Draw, { type }: Pick<Column, 'type'>): JsonObject {
  const element = (): Json => draw.pick(type === 'array' ? ['a', 'b', 'c'] : [1, 2, 'text', true]);
  if (draw.chance(40)) return { [draw.pick(['_has', '_nhas'])]: element() };
  const operator = draw.pick(['_has_any', '_has_all', '_nhas_any', '_nhas_all']);
  return { [operator]: draw.some([element(), element()], 70) };
}

/** An operator of the type with a value. */
export function drawOperator(draw: Draw, { type }: Pick<Column, 'type'>): JsonObject {
  const value = (): Json => draw.pick(pools[type]);
  if ((type === 'json' || type === 'array') && draw.chance(60)) return drawElements(draw, { type });
  if (type === 'json' || type === 'array' || draw.chance(15))
    return { [draw.pick(['_null', '_nnull'])]: draw.chance(70) };
  if (isText(type) && draw.chance(40)) {
    return draw.chance(15)
      ? { [draw.pick(['_empty', '_nempty'])]: draw.chance(70) }
      : { [draw.pick(textOperators)]: value() };
  }
  if (draw.chance(12)) return drawDynamic(draw, type);
  if (type === 'boolean') return { [draw.pick(['_eq', '_neq'])]: draw.pick([true, false, null]) };
  const compared = ordered.has(type) && !isText(type) && type !== 'uuid' && type !== 'enum';
  if (compared && draw.chance(25)) return { [draw.pick(['_between', '_nbetween'])]: [value(), value()] };
  if (compared && draw.chance(30)) return { [draw.pick(['_lt', '_lte', '_gt', '_gte'])]: value() };
  if (draw.chance(40)) return { [draw.pick(['_in', '_nin'])]: draw.some([value(), value(), value()], 70) };
  return { [draw.pick(['_eq', '_neq'])]: draw.chance(10) ? null : value() };
}

/** A comparison with the caller, who may be nobody, or with a time far from those in the pools. */
function drawDynamic(draw: Draw, type: Column['type']): JsonObject {
  if (type === 'timestamp' || type === 'date') {
    const moment = draw.pick(['$NOW', '$NOW(-900 years)', '$NOW(1 years)']);
    if (draw.chance(60)) return { [draw.pick(['_lt', '_gte'])]: moment };
    return { [draw.pick(['_in', '_nin'])]: draw.pick([moment, [moment, draw.pick(pools[type])]]) };
  }
  if (!['integer', 'bigInteger', 'text', 'string', 'uuid'].includes(type)) return { _nnull: true };
  const caller = draw.pick(['$CURRENT_USER', '$CURRENT_ROLE']);
  const list = draw.chance(30) ? [caller, draw.pick(pools[type])] : caller;
  return Array.isArray(list) || draw.chance(30)
    ? { [draw.pick(['_in', '_nin'])]: list }
    : { [draw.pick(['_eq', '_neq'])]: caller };
}

function drawRelated(draw: Draw, names: Names, table: Table, name: string, depth: number): JsonObject {
  const relation = relationOf(table, name);
  if (relation === undefined) return {};
  const target = names.tables(relation.target);
  const described = (): JsonObject =>
    relation.kind === 'm2a' ? drawLink(draw, names, relation, depth) : drawFilter(draw, names, target, depth - 1);
  const rows = (): JsonObject => withKey(draw, names, target, described());
  if (relation.kind === 'm2o') return { [name]: drawToOne(draw, table, name, rows) };
  if (draw.chance(15))
    return { [`count(${name})`]: { [draw.pick(['_gt', '_eq', '_lte', '_neq'])]: draw.integer(0, 3) } };
  const quantified = draw.pick(['_some', '_none', 'plain', '_none', 'empty']);
  if (quantified === 'empty') return { [name]: draw.pick([{}, { _none: {} }, { _some: {} }]) };
  return { [name]: quantified === 'plain' ? rows() : { [quantified]: rows() } };
}

/** Now and then whether there are rows at all, which is asked of their key. */
function withKey(draw: Draw, names: Names, target: Table, others: JsonObject): JsonObject {
  const key = draw.pick(target.key.length > 0 ? target.key : ['']);
  if (!names.has(target, key) || draw.chance(70)) return others;
  const asked: JsonObject = {
    [key]: draw.pick([{ _null: true }, { _nnull: true }, { _null: false }, { _eq: null }, null]),
  };
  return draw.pick([asked, { _or: [asked, others] }, { _and: [others, asked] }, { _and: [asked, {}] }]);
}

/** Below a relation to one item: its key, what is behind it, or both in one group. */
function drawToOne(draw: Draw, table: Table, name: string, rows: () => JsonObject): JsonObject {
  const column = columnOf(table, name);
  if (column === undefined || draw.chance(60)) return rows();
  if (draw.chance(70)) return drawOperator(draw, column);
  return { [draw.pick(['_or', '_and'])]: [drawOperator(draw, column), rows()] };
}

/** Below a many-to-any: the item of one collection, or the link row itself. */
function drawLink(draw: Draw, names: Names, relation: Extract<Relation, { kind: 'm2a' }>, depth: number): JsonObject {
  const links = names.tables(relation.target);
  const targets = relation.allowed.filter((target) => names.reads(target));
  if (targets.length === 0 || draw.chance(30)) return drawFilter(draw, names, links, depth - 1);
  const target = draw.pick(targets);
  const inner = names.tables(target);
  const item = { [`item:${target}`]: withKey(draw, names, inner, drawFilter(draw, names, inner, depth - 1)) };
  return draw.chance(20) ? { _or: [item, drawFilter(draw, names, links, 0)] } : item;
}
