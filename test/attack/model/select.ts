/** What an item reads as for the paths of `fields` (API specification, sections 5.1 and 5.4). */
import { type Aggregation, aggregateRows } from './aggregate.ts';
import { isObject, type LinkRelation } from './conditions.ts';
import { matches } from './evaluate.ts';
import { functionOf } from './functions.ts';
import { orderRows, sortRows } from './order.ts';
import type { Deep } from './query.ts';
import { isText } from './values.ts';
import { ownKey, type View } from './view.ts';
import {
  columnOf,
  type Json,
  type JsonObject,
  namesOf,
  type Relation,
  type Row,
  relationOf,
  type Table,
} from './world.ts';

/** One level of an answer: the rows of a table, and what is asked of the relations below. */
export interface Level {
  readonly view: View;
  readonly table: Table;
  readonly aliases: { readonly [name: string]: string };
  readonly deep: Deep;
  /** Set where the rows are link rows. */
  readonly link?: LinkRelation;
}

type Path = readonly string[];

interface Wanted {
  own: boolean;
  readonly below: Path[];
}

/** Lists nested in an answer have this many rows unless `deep` says otherwise. */
const nestedLimit = 100;

/** Reads one row by the paths of a level. */
export function selectRow(level: Level, row: Row, paths: readonly Path[]): JsonObject {
  const wanted = gather(level, paths);
  const item: [string, Json][] = [];
  for (const [name, { own, below }] of wanted) {
    if (level.link !== undefined && isItemName(level.link, name)) continue;
    const value = below.length > 0 ? selectBelow(level, row, name, below) : selectOwn(level, row, name, own);
    if (value !== undefined) item.push([keyOf(level, name), value]);
  }
  if (level.link !== undefined) item.push(...selectItem(level, level.link, row, wanted));
  return Object.fromEntries(item);
}

/** Sorts paths by their first name; `*` stands for every name, `*.x` for `x` below every relation. */
function gather(level: Level, paths: readonly Path[]): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const take = (name: string): Wanted => {
    const known = wanted.get(name) ?? { own: false, below: [] };
    wanted.set(name, known);
    return known;
  };
  for (const [name = '', ...rest] of paths) {
    if (name !== '*') {
      if (rest.length === 0) take(name).own = true;
      else take(name).below.push(rest);
      continue;
    }
    for (const one of allNames(level)) {
      take(one).own = true;
      if (rest.length > 0 && isRelation(level, one)) take(one).below.push(rest);
    }
    if (rest.length > 0 && level.link !== undefined) take('item').below.push(rest);
  }
  return wanted;
}

function allNames({ view, table, aliases }: Level): readonly string[] {
  return [...namesOf(table).filter((name) => view.names(table, name)), ...Object.keys(aliases)];
}

function isRelation({ view, table, aliases }: Level, name: string): boolean {
  const relation = relationOf(table, aliases[name] ?? name);
  return relation !== undefined && view.reads(relation.target);
}

function keyOf({ aliases }: Level, name: string): string {
  return aliases[name] === undefined ? name.replace(/^(\w+)\((.*)\)$/, '$2_$1') : name;
}

function selectOwn(level: Level, row: Row, name: string, own: boolean): Json | undefined {
  const { view, table } = level;
  const real = level.aliases[name] ?? name;
  if (columnOf(table, real) !== undefined) return view.cell(table, row, real);
  const relation = relationOf(table, real);
  if (relation !== undefined) return selectKeys(level, row, name, relation);
  const [, call, argument] = /^(\w+)\((.*)\)$/.exec(name) ?? [];
  return own && call !== undefined && argument !== undefined ? functionOf(view, table, row, call, argument) : undefined;
}

/** The keys behind a relation; left out where the role cannot name the key fields. */
function selectKeys(level: Level, row: Row, name: string, relation: Relation): Json | undefined {
  const { view, table } = level;
  if (relation.kind === 'm2o') return ownKey(view, table, row, relation);
  const target = view.tables(relation.target);
  const isKeyed = target.key.every((key) => view.names(target, key));
  if (!isKeyed && !isAggregated(below(level.deep, name))) return undefined;
  return nestedList(level, row, name, relation, (one) => keyCell(view, target, one));
}

/** The rows that a relation nests, each read in a way, or the aggregate rows that `deep` wants in their place. */
function nestedList(
  level: Level,
  row: Row,
  name: string,
  relation: Relation,
  read: (row: Row) => Json,
): readonly Json[] | null {
  const deep = below(level.deep, name);
  if (!isAggregated(deep)) {
    return nestedRows(level, row, name, relation)?.map(read) ?? null;
  }
  const rows = relatedRows(level, row, name, relation);
  return rows && aggregateRows(level.view, level.view.tables(relation.target), rows, aggregationOf(deep));
}

/** Whether `deep` wants aggregate rows in the place of a relation's rows; they need no key. */
function isAggregated({ _aggregate, _group }: Deep): boolean {
  return _aggregate !== undefined || _group !== undefined;
}

/** What `deep` asks of aggregate rows, in the words of a query. */
function aggregationOf({ _aggregate = null, _group, _limit = nestedLimit, _offset = 0 }: Deep): Aggregation {
  const aggregate = isObject(_aggregate) ? Object.entries(_aggregate) : [];
  return {
    aggregate: Object.fromEntries(aggregate.map(([call, fields]) => [call, listOf(fields)])),
    groupBy: listOf(_group),
    limit: Number(_limit),
    offset: Number(_offset),
  };
}

/** A key as a cell: its value, or the path form of several; null where the role cannot read it. */
function keyCell(view: View, target: Table, row: Row): Json {
  const cells = target.key.map((name) => view.cell(target, row, name));
  if (cells.length === 1) return cells[0] ?? null;
  return cells.includes(null) ? null : pathOf(cells);
}

/** The path form of a key (API specification, section 4). */
export function pathOf(values: readonly Json[]): string {
  return values.map((value) => encodeURIComponent(String(value))).join(',');
}

/** The rows of a relation that meet what `deep` asks of them. Null for a hidden cell. */
function relatedRows({ view, table, deep }: Level, row: Row, name: string, relation: Relation): readonly Row[] | null {
  const target = view.tables(relation.target);
  const link = relation.kind === 'm2a' ? relation : undefined;
  const related = view.related(table, row, relation);
  return related?.filter((one) => meets(view, target, one, below(deep, name), link)) ?? null;
}

/** The rows of a relation that an answer nests: narrowed, ordered and cut as `deep` says. Null for a hidden cell. */
function nestedRows(level: Level, row: Row, name: string, relation: Relation): readonly Row[] | null {
  const { view } = level;
  const found = relatedRows(level, row, name, relation);
  if (found === null || relation.kind === 'm2o') return found;
  const deep = below(level.deep, name);
  const target = view.tables(relation.target);
  const terms = listOf(deep._sort);
  const sorted =
    terms.length > 0 ? sortRows(view, target, found, terms) : orderRows(view, target, found, relation, row);
  return cut(sorted, deep._limit ?? nestedLimit, deep._offset, deep._page);
}

/** What `deep` asks of the rows of one relation. */
function below(deep: Deep, name: string): Deep {
  const inner = deep[name] ?? null;
  return isObject(inner) ? inner : {};
}

function meets(view: View, table: Table, row: Row, deep: Deep, link?: LinkRelation): boolean {
  const filter = deep._filter ?? null;
  return (
    matches(view, view.world.asker, table, row, isObject(filter) ? filter : undefined, link) &&
    isFound(view, table, row, typeof deep._search === 'string' ? deep._search : undefined)
  );
}

/** Whether some readable text cell contains a text, whatever its case. */
export function isFound(view: View, table: Table, row: Row, search: string | undefined): boolean {
  if (search === undefined || search === '') return true;
  return table.columns.some(({ name, type }) => {
    const cell = isText(type) && view.names(table, name) ? view.cell(table, row, name) : null;
    return typeof cell === 'string' && cell.toLowerCase().includes(search.toLowerCase());
  });
}

/** The names of a list, whichever way it is written. */
export function listOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value.split(',');
  return Array.isArray(value) ? value.map(String) : [];
}

/** The rows from an offset, or of a page, up to a limit; -1 is no limit. */
export function cut(rows: readonly Row[], limit: Json, offset: Json = 0, page: Json = null): readonly Row[] {
  const most = Number(limit);
  const skipped = page === null ? Number(offset) : most === -1 ? 0 : Math.max(Number(page) - 1, 0) * most;
  return rows.slice(skipped, most === -1 ? undefined : skipped + most);
}

function selectBelow(level: Level, row: Row, name: string, paths: readonly Path[]): Json | undefined {
  const { view, table } = level;
  const relation = relationOf(table, level.aliases[name] ?? name);
  if (relation === undefined) return undefined;
  const inner: Level = {
    view,
    table: view.tables(relation.target),
    aliases: {},
    deep: below(level.deep, name),
    ...(relation.kind === 'm2a' && { link: relation }),
  };
  const items = nestedList(level, row, name, relation, (one) => selectRow(inner, one, paths));
  return relation.kind === 'm2o' ? (items?.[0] ?? null) : items;
}

function isItemName(link: LinkRelation, name: string): boolean {
  return name === 'item' || name === link.itemField || name.startsWith('item:');
}

/** The item of a link row: nested where its collection was asked for, else its key where that was asked for. */
function selectItem(
  level: Level,
  link: LinkRelation,
  row: Row,
  wanted: ReadonlyMap<string, Wanted>,
): readonly [string, Json][] {
  const { view, table } = level;
  const asked = [...wanted].filter(([name]) => isItemName(link, name));
  if (asked.length === 0 || !view.names(table, link.itemField)) return [];
  const own = asked.some(([, what]) => what.own);
  const nested = itemPaths(level, link, asked);
  if (nested.size === 0) return own ? [[link.itemField, view.cell(table, row, link.itemField)]] : [];
  for (const [target, paths] of nested) {
    const item = view.item(link, row, target);
    if (item === undefined || item === null) continue;
    const deep = below(level.deep, `item:${target}`);
    const inner: Level = { view, table: view.tables(target), aliases: {}, deep };
    if (meets(view, inner.table, item, deep)) return [[link.itemField, selectRow(inner, item, paths)]];
  }
  const kind = view.cell(table, row, link.kindField);
  const isNested = typeof kind === 'string' && nested.has(kind);
  return [[link.itemField, own && !isNested ? view.cell(table, row, link.itemField) : null]];
}

/** The paths below the items of each collection; those of `item` go to every collection that has their first name. */
function itemPaths(
  { view, table }: Level,
  link: LinkRelation,
  asked: readonly (readonly [string, Wanted])[],
): ReadonlyMap<string, readonly Path[]> {
  const targets = view.names(table, link.kindField) ? link.allowed.filter((target) => view.reads(target)) : [];
  const found = new Map(targets.map((target): [string, Path[]] => [target, []]));
  for (const [name, { below: paths }] of asked) {
    for (const [target, taken] of found) {
      if (name === `item:${target}`) taken.push(...paths);
      else if (!name.startsWith('item:'))
        taken.push(...paths.filter((path) => hasName(view, view.tables(target), path)));
    }
  }
  return new Map([...found].filter(([, paths]) => paths.length > 0));
}

function hasName(view: View, target: Table, [name = '', ...rest]: Path): boolean {
  if (name === '*') return true;
  if (!view.names(target, name)) return false;
  const relation = relationOf(target, name);
  return (relation !== undefined && view.reads(relation.target)) || rest.length === 0;
}
