/** Draws queries of the whole language over the names that a role can read. */
import type { Draw } from './draw.ts';
import { drawFilter, type Names } from './draw-filters.ts';
import { matches } from './evaluate.ts';
import type { Asked, Deep, Form, Query } from './query.ts';
import { pathOf } from './select.ts';
import { isText, ordered } from './values.ts';
import { type View, withoutSecrets } from './view.ts';
import {
  type CellType,
  columnOf,
  type Json,
  type JsonObject,
  namesOf,
  type Relation,
  type Row,
  relationOf,
  type Table,
} from './world.ts';

/** What queries are drawn over: the names of a role, and the rows whose keys they may name. */
export interface Readable {
  readonly view: View;
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

/** Draws one query and the form it is sent in. */
export function drawQuery(draw: Draw, { view, rows }: Readable): Asked {
  const tables = [...view.world.tables.values()];
  const owners = tables.filter(({ relations }) => relations.some(({ kind }) => kind === 'm2a'));
  const readable = [...tables, ...owners, ...owners].filter(({ name }) => view.reads(name));
  const table = readable.length > 0 && !draw.chance(2) ? draw.pick(readable) : draw.pick(tables);
  const form = draw.pick<Form>(['body', 'text', 'brackets']);
  if (table.singleton !== true && draw.chance(10))
    return drawNamed(draw, view, table, rows.get(table.name) ?? [], form);
  if (table.singleton !== true && draw.chance(20)) return { form, ...drawAggregate(draw, view, table) };
  if (table.singleton !== true && draw.chance(8)) return drawExport(draw, withoutSecrets(view), table, form);
  const list = { collection: table.name, ...drawSelection(draw, view, table), ...drawRowsWanted(draw, view, table) };
  return {
    form,
    query: table.singleton === true ? list : { ...list, ...drawPages(draw, view, table), ...drawMeta(draw) },
    foretold: true,
  };
}

/** The first of the pages that cursors lead through; where the whole key can be read on every row. */
function drawPages(draw: Draw, view: View, table: Table): Partial<Query> {
  const rules = (view.world.rules.get(table.name) ?? []).filter(({ fields }) => fields.length > 0);
  const isKeyed = rules.every(({ fields }) => table.key.every((name) => fields.includes(name)));
  return isKeyed && draw.chance(12) ? { cursor: '', limit: draw.pick([2, 1, 3, -1]) } : drawBounds(draw);
}

/** A file. What JSON holds is foretold; other formats must only not depend on what is hidden. */
function drawExport(draw: Draw, view: View, table: Table, form: Form): Asked {
  const list = { collection: table.name, ...drawSelection(draw, view, table), ...drawRowsWanted(draw, view, table) };
  const format = draw.pick(['json', 'csv', 'xml', 'yaml', 'ndjson']);
  return { form, query: { ...list, ...drawBounds(draw), export: format }, foretold: format === 'json' };
}

function namesFor(view: View): Names {
  return { tables: view.tables, has: (table, name) => view.names(table, name), reads: (name) => view.reads(name) };
}

function readableNames(view: View, table: Table): readonly string[] {
  return namesOf(table).filter((name) => view.names(table, name));
}

/** Relations that can be followed from a table. */
function relationsOf(view: View, table: Table): readonly Relation[] {
  return readableNames(view, table).flatMap((name) => {
    const relation = relationOf(table, name);
    return relation !== undefined && view.reads(relation.target) ? [relation] : [];
  });
}

/** A filter that tells the rows of a role apart, where one of two that are drawn does. */
function drawTelling(draw: Draw, view: View, table: Table): JsonObject {
  const rows = view.visible(table);
  const filter = drawFilter(draw, namesFor(view), table, 3);
  const found = rows.filter((row) => matches(view, view.world.asker, table, row, filter)).length;
  return found > 0 && found < rows.length ? filter : drawFilter(draw, namesFor(view), table, 2);
}

/** One item by its key, or several: also hidden ones, and one that there is not. */
function drawNamed(draw: Draw, view: View, table: Table, rows: readonly Row[], form: Form): Asked {
  const keys = rows.map((row) => table.key.map((name) => row[name] ?? null));
  const missing = table.key.map((name): Json => (columnOf(table, name)?.type === 'integer' ? 999 : 'missing'));
  const isUuid = table.key.some((name) => columnOf(table, name)?.type === 'uuid');
  const all = isUuid ? keys : [...keys, missing];
  const base = { collection: table.name, ...drawSelection(draw, view, table) };
  const filter = draw.chance(20) ? { filter: drawFilter(draw, namesFor(view), table, 1) } : {};
  if (all.length === 0 || draw.chance(50)) {
    const wanted = draw.some(all, 30).map((key): Json => (key.length === 1 ? (key[0] ?? null) : pathOf(key)));
    return {
      form: 'body',
      foretold: true,
      query: { ...base, ...filter, keys: wanted, ...drawRowsWanted(draw, view, table) },
    };
  }
  return {
    form: form === 'body' ? 'text' : form,
    foretold: true,
    query: { ...base, ...filter, key: pathOf(draw.pick(all)) },
  };
}

function drawRowsWanted(draw: Draw, view: View, table: Table): Partial<Query> {
  const terms = draw.chance(50) ? drawSort(draw, view, table) : [];
  return {
    ...(draw.chance(55) && { filter: drawTelling(draw, view, table) }),
    ...(draw.chance(15) && { search: draw.pick(['a', 'B', '%', '_', '1', 'ab', '\\']) }),
    ...(terms.length > 0 && { sort: terms }),
  };
}

function drawBounds(draw: Draw): Partial<Query> {
  const limit = draw.pick([null, -1, 3, 1, 7, 0, 4000]);
  return {
    ...(limit !== null && { limit }),
    ...(draw.chance(15) && { offset: draw.integer(0, 4) }),
    ...(draw.chance(10) && { page: draw.integer(0, 3) }),
  };
}

function drawMeta(draw: Draw): Partial<Query> {
  return draw.chance(30)
    ? { meta: draw.pick([['*'], ['total_count'], ['filter_count'], ['filter_count', 'total_count']]) }
    : {};
}

/** Up to three terms: fields, what lies behind relations to one item, functions, numbers of related rows. */
function drawSort(draw: Draw, view: View, table: Table): readonly string[] {
  return Array.from({ length: draw.integer(1, 3) }, () => drawTerm(draw, view, table, 2)).flatMap((term) =>
    term === undefined ? [] : [draw.chance(50) ? `-${term}` : term],
  );
}

function drawTerm(draw: Draw, view: View, table: Table, depth: number): string | undefined {
  const relations = relationsOf(view, table);
  const toMany = relations.filter(({ kind }) => kind !== 'm2o');
  const toOne = relations.filter(({ kind }) => kind === 'm2o');
  if (toMany.length > 0 && draw.chance(15)) return `count(${draw.pick(toMany).name})`;
  if (depth > 0 && toOne.length > 0 && draw.chance(35)) {
    const { name, target } = draw.pick(toOne);
    const inner = drawTerm(draw, view, view.tables(target), depth - 1);
    return inner === undefined ? undefined : `${name}.${inner}`;
  }
  const sortable = fieldsOf(view, table, (type) => ordered.has(type));
  if (sortable.length === 0) return undefined;
  const name = draw.pick(sortable);
  const type = columnOf(table, name)?.type;
  return (type === 'date' || type === 'timestamp') && draw.chance(30) ? `month(${name})` : name;
}

function fieldsOf(view: View, table: Table, fits: (type: CellType) => boolean): readonly string[] {
  return table.columns.filter(({ name, type }) => view.names(table, name) && fits(type)).map(({ name }) => name);
}

/** Paths, an alias or two, and what `deep` asks of the relations that the paths lead into. */
function drawSelection(draw: Draw, view: View, table: Table): Partial<Query> {
  const alias = drawAlias(draw, view, table);
  if (draw.chance(15)) return Object.keys(alias).length > 0 ? { alias } : {};
  const paths = Array.from({ length: draw.integer(1, 4) }, () => drawPath(draw, view, { table, aliases: alias }, 3));
  const fields = [...new Set(paths.flat().map((path) => path.join('.')))];
  const deep = draw.chance(35) ? drawDeep(draw, view, { table, aliases: alias }, 2) : {};
  return {
    ...(fields.length > 0 && { fields }),
    ...(Object.keys(alias).length > 0 && { alias }),
    ...(Object.keys(deep).length > 0 && { deep }),
  };
}

function drawAlias(draw: Draw, view: View, table: Table): { readonly [name: string]: string } {
  const names = readableNames(view, table).filter(
    (name) =>
      columnOf(table, name)?.type !== 'secret' &&
      (columnOf(table, name) !== undefined || view.reads(relationOf(table, name)?.target ?? '')),
  );
  if (names.length === 0 || !draw.chance(20)) return {};
  return Object.fromEntries(Array.from({ length: draw.integer(1, 2) }, (_, index) => [`z${index}`, draw.pick(names)]));
}

interface Place {
  readonly table: Table;
  readonly aliases: { readonly [name: string]: string };
  readonly link?: Extract<Relation, { kind: 'm2a' }>;
}

type Path = readonly string[];

function drawPath(draw: Draw, view: View, place: Place, depth: number): readonly Path[] {
  const { table, aliases, link } = place;
  if (draw.chance(15)) return [depth > 1 && draw.chance(40) ? ['*', '*'] : ['*']];
  const relations = relationsOf(view, table);
  if (link !== undefined && depth > 0 && draw.chance(60)) return drawItemPath(draw, view, place, depth);
  if (depth > 0 && relations.length > 0 && draw.chance(50)) {
    // Of the rare kind there is at most one.
    const relation = draw.pick([...relations, ...relations.filter(({ kind }) => kind === 'm2a')]);
    const name = draw.pick([relation.name, ...Object.keys(aliases).filter((key) => aliases[key] === relation.name)]);
    const inner: Place = {
      table: view.tables(relation.target),
      aliases: {},
      ...(relation.kind === 'm2a' && { link: relation }),
    };
    return drawPath(draw, view, inner, depth - 1).map((path) => [name, ...path]);
  }
  const own = ownPaths(view, place);
  return own.length === 0 ? [['*']] : [[draw.pick(own)]];
}

/** Names that can end a path: fields, relations whose keys can be read, functions, aliases. */
function ownPaths(view: View, { table, aliases, link }: Place): readonly string[] {
  const keyed = relationsOf(view, table).filter(
    ({ kind, target }) =>
      kind === 'm2o' || view.tables(target).key.every((key) => view.names(view.tables(target), key)),
  );
  const fields = fieldsOf(view, table, () => true).filter((name) => link === undefined || name !== link.itemField);
  const counts = relationsOf(view, table)
    .filter(({ kind }) => kind !== 'm2o')
    .map(({ name }) => `count(${name})`);
  const calls = [
    ...fieldsOf(view, table, (type) => type === 'date' || type === 'timestamp').map((name) => `week(${name})`),
    ...fieldsOf(view, table, (type) => type === 'json' || type === 'array').map((name) => `count(${name})`),
  ];
  const named = Object.keys(aliases).filter((name) => {
    const real = aliases[name] ?? '';
    return columnOf(table, real) !== undefined || keyed.some((relation) => relation.name === real);
  });
  return [...fields, ...keyed.map(({ name }) => name), ...counts, ...calls, ...named];
}

/** Paths into the items of link rows, as far as the role can read what a link row names. */
function drawItemPath(draw: Draw, view: View, { table, link }: Place, depth: number): readonly Path[] {
  if (link === undefined || !view.names(table, link.itemField) || !view.names(table, link.kindField)) return [['*']];
  const targets = link.allowed.filter((name) => view.reads(name));
  if (targets.length === 0 || draw.chance(20)) return [[draw.pick(['item', link.itemField])]];
  const target = draw.pick(targets);
  const inner = drawPath(draw, view, { table: view.tables(target), aliases: {} }, depth - 1);
  const name = draw.pick([`item:${target}`, 'item']);
  // What stands below `item` must be there in every collection that has its first name.
  const plain = inner.filter(
    (path) => name !== 'item' || path[0] === '*' || (path.length === 1 && !path[0]?.includes('(')),
  );
  return (plain.length > 0 ? plain : [['*']]).map((path) => [name, ...path]);
}

/** What is asked of relations, whether they are selected or not. */
function drawDeep(draw: Draw, view: View, place: Place, depth: number): Deep {
  const relations = relationsOf(view, place.table);
  if (relations.length === 0) return {};
  const aliases = Object.keys(place.aliases).filter((name) =>
    relations.some((relation) => relation.name === place.aliases[name]),
  );
  const name = draw.pick([...relations.map((relation) => relation.name), ...aliases]);
  const relation = relations.find((one) => one.name === (place.aliases[name] ?? name));
  if (relation === undefined) return {};
  const inner: Place = {
    table: view.tables(relation.target),
    aliases: {},
    ...(relation.kind === 'm2a' && { link: relation }),
  };
  return {
    [name]: {
      ...drawAsked(draw, view, inner.table, relation.kind !== 'm2o'),
      ...(depth > 0 && drawBelow(draw, view, inner, depth)),
    },
  };
}

function drawBelow(draw: Draw, view: View, place: Place, depth: number): Deep {
  const { link, table } = place;
  if (link !== undefined && view.names(table, link.itemField) && view.names(table, link.kindField) && draw.chance(40)) {
    const targets = link.allowed.filter((name) => view.reads(name));
    if (targets.length === 0) return {};
    const target = draw.pick(targets);
    return { [`item:${target}`]: { _filter: drawFilter(draw, namesFor(view), view.tables(target), 1) } };
  }
  return draw.chance(50) ? drawDeep(draw, view, place, depth - 1) : {};
}

function drawAsked(draw: Draw, view: View, table: Table, toMany: boolean): Deep {
  const terms = draw.chance(40) ? drawSort(draw, view, table) : [];
  if (toMany && draw.chance(20)) {
    return {
      _aggregate: { count: ['*'] },
      _group: drawGroups(draw, view, table),
      ...(draw.chance(40) && { _filter: drawFilter(draw, namesFor(view), table, 1) }),
      ...(draw.chance(30) && { _limit: draw.pick([1, 2, -1]), _offset: draw.integer(0, 1) }),
    };
  }
  return {
    ...(draw.chance(40) && { _filter: drawFilter(draw, namesFor(view), table, 1) }),
    ...(draw.chance(40) && { _limit: draw.pick([1, 2, -1, 0, 30]) }),
    ...(draw.chance(20) && { _offset: draw.integer(0, 2) }),
    ...(draw.chance(10) && { _page: draw.integer(0, 2) }),
    ...(draw.chance(15) && { _search: draw.pick(['a', 'b', '%']) }),
    ...(terms.length > 0 && { _sort: terms }),
  };
}

const numbers: readonly CellType[] = ['integer', 'bigInteger', 'decimal'];

/** An aggregation. Averages are asked for too, but how their digits end is left to the database. */
function drawAggregate(draw: Draw, view: View, table: Table): Pick<Asked, 'query' | 'foretold'> {
  const countable = fieldsOf(view, table, (type) => type !== 'secret');
  const numeric = fieldsOf(view, table, (type) => numbers.includes(type));
  const sortable = fieldsOf(
    view,
    table,
    (type) => ordered.has(type) && type !== 'boolean' && type !== 'uuid' && type !== 'enum',
  );
  const distinct = fieldsOf(view, table, (type) => ordered.has(type));
  const average = numeric.length > 0 && draw.chance(10);
  const aggregate = {
    ...(draw.chance(60) && { count: ['*'] }),
    ...(countable.length > 0 && draw.chance(30) && { count: draw.some(countable, 50).slice(0, 2) }),
    ...(distinct.length > 0 && draw.chance(30) && { countDistinct: [draw.pick(distinct)] }),
    ...(numeric.length > 0 && draw.chance(40) && { [draw.pick(['sum', 'sumDistinct'])]: [draw.pick(numeric)] }),
    ...(sortable.length > 0 && draw.chance(40) && { [draw.pick(['min', 'max'])]: [draw.pick(sortable)] }),
    ...(average && { [draw.pick(['avg', 'avgDistinct'])]: [draw.pick(numeric)] }),
  };
  const asked = Object.fromEntries(Object.entries(aggregate).filter(([, fields]) => fields.length > 0));
  const groupBy = drawGroups(draw, view, table);
  const empty = groupBy.length === 0 && Object.keys(asked).length === 0;
  const query: Query = {
    collection: table.name,
    ...(draw.chance(40) && { filter: drawFilter(draw, namesFor(view), table, 2) }),
    ...(draw.chance(10) && fieldsOf(view, table, isText).length > 0 && { search: draw.pick(['a', 'b']) }),
    ...((empty || Object.keys(asked).length > 0) && { aggregate: empty ? { countAll: ['*'] } : asked }),
    ...(groupBy.length > 0 && { groupBy }),
    ...(draw.chance(30) && { sort: [draw.pick(['-count', 'count'])] }),
    // The order of the list, which clients send also for its totals.
    ...(groupBy.length === 0 && draw.chance(30) && { sort: drawSort(draw, view, table) }),
    ...(draw.chance(20) && { having: { count: { _gt: draw.integer(0, 3) } } }),
    ...(draw.chance(30) && { limit: draw.pick([-1, 2, 1, 0]) }),
    ...(draw.chance(10) && { offset: draw.integer(0, 2) }),
    ...(draw.chance(10) && { page: draw.integer(0, 3) }),
    ...drawMeta(draw),
  };
  // Counts of a field have no order of their own.
  const { sort: _, ...unsorted } = query;
  const isPlain = asked.count === undefined || asked.count.join() === '*';
  return { query: isPlain ? query : unsorted, foretold: !average };
}

function drawGroups(draw: Draw, view: View, table: Table): readonly string[] {
  const fields = fieldsOf(view, table, (type) => ordered.has(type)).filter((name) => name !== 'count');
  const calls = fieldsOf(view, table, (type) => type === 'date' || type === 'timestamp').map((name) => `year(${name})`);
  const counts = relationsOf(view, table)
    .filter(({ kind }) => kind !== 'm2o')
    .map(({ name }) => `count(${name})`);
  const all = [...fields, ...calls, ...counts];
  if (all.length === 0 || !draw.chance(60)) return [];
  return [...new Set([draw.pick(all), ...(draw.chance(30) ? [draw.pick(all)] : [])])];
}
