/**
 * What a role sees of the rows of a world (API specification, section 8): rows that some rule grants, cells that one rule
 * grants together with their row, and the rows behind relations that it may follow. Every answer must follow from this.
 */
import type { Eyes, LinkRelation, Tables } from './conditions.ts';
import { ruleMatches } from './evaluate.ts';
import { orderRows } from './order.ts';
import {
  columnOf,
  isJoined,
  type Json,
  keyText,
  namesOf,
  type Relation,
  type Row,
  type Rows,
  type Rule,
  relationOf,
  type Table,
  tableOf,
  type World,
} from './world.ts';

/** The eyes of a role, and what it can name. */
export interface View extends Eyes {
  readonly world: World;
  readonly rows: Rows;
  /** The rows of a table that the role may read, in no order; none for a private table. */
  visible(table: Table): readonly Row[];
  /** Whether the role can name a field or a relation of a table at all. */
  names(table: Table, name: string): boolean;
  /** Every row of a junction: what is a detail of a relation is seen through it. */
  junctionRows(junction: Table): readonly Row[];
  /** The readable rows behind a relation, whether or not the role may follow it from this row. */
  reachable(row: Row, relation: Relation): readonly Row[];
}

/** Eyes that see everything: those of rules. */
export function openEyes(world: World, rows: Rows): Eyes {
  const tables: Tables = (name) => tableOf(world, name);
  const all = (name: string): readonly Row[] => rows.get(name) ?? [];
  return {
    tables,
    reads: () => true,
    cell: (_table, row, field) => row[field] ?? null,
    related: (_table, row, relation) => follow(all, relation, row, () => true),
    item: (link, row, target) =>
      row[link.kindField] === target ? all(target).find((item) => isItem(tables(target), item, link, row)) : undefined,
  };
}

function isItem(target: Table, item: Row, { itemField }: LinkRelation, link: Row): boolean {
  const [key = ''] = target.key;
  return link[itemField] !== null && String(item[key]) === link[itemField];
}

/** The rows a relation leads to, among those given; of a junction, through the rows that may be used. */
function follow(
  all: (table: string) => readonly Row[],
  relation: Relation,
  row: Row,
  passes: (junction: string, row: Row) => boolean,
): readonly Row[] {
  const targets = all(relation.target);
  if (relation.kind !== 'm2m') return targets.filter((target) => isJoined(relation.on, row, target));
  const links = all(relation.junction).filter(
    (link) => isJoined(relation.near, row, link) && passes(relation.junction, link),
  );
  return links.flatMap((link) => targets.filter((target) => isJoined(relation.far, link, target)));
}

/** Makes the view of the world's role. */
export function createView(world: World, rows: Rows): View {
  const open = openEyes(world, rows);
  const granting = new Map<Row, readonly Rule[]>();
  const rulesOf = (name: string): readonly Rule[] =>
    (world.rules.get(name) ?? []).filter((rule) => rule.fields.length > 0);
  const all = (name: string): readonly Row[] => rows.get(name) ?? [];

  function rulesOn(table: Table, row: Row): readonly Rule[] {
    const known = granting.get(row);
    if (known !== undefined) return known;
    const found = rulesOf(table.name).filter((rule) => ruleMatches(open, world.asker, table, row, rule.filter));
    granting.set(row, found);
    return found;
  }
  const sees = (table: string, row: Row): boolean => rulesOn(tableOf(world, table), row).length > 0;
  const grants = (table: Table, row: Row, name: string): boolean =>
    names(table, name) && rulesOn(table, row).some((rule) => rule.fields.includes(name));

  function names(table: Table, name: string): boolean {
    if (!rulesOf(table.name).some((rule) => rule.fields.includes(name))) return false;
    const relation = relationOf(table, name);
    return relation === undefined || columnOf(table, name) !== undefined || reads(relation.target);
  }
  const reads = (name: string): boolean => rulesOf(name).length > 0;
  /** A junction that the role cannot read is a detail of the relation; one that it can read shows what its rules show. */
  const passes = (junction: string, row: Row): boolean => !reads(junction) || sees(junction, row);
  const reachable = (row: Row, relation: Relation): readonly Row[] =>
    follow(all, relation, row, passes).filter((target) => sees(relation.target, target));

  return {
    world,
    rows,
    tables: open.tables,
    names,
    reads,
    junctionRows: ({ name }) => all(name),
    reachable,
    visible: (table) => all(table.name).filter((row) => sees(table.name, row)),
    cell(table, row, field) {
      if (!grants(table, row, field)) return null;
      const value = row[field] ?? null;
      return columnOf(table, field)?.type === 'secret' && value !== null ? '**********' : value;
    },
    related(table, row, relation) {
      if (!grants(table, row, relation.name) || !reads(relation.target)) return null;
      return reachable(row, relation);
    },
    item(link, row, target) {
      const links = tableOf(world, link.target);
      const readable = grants(links, row, link.kindField) && grants(links, row, link.itemField);
      if (!readable) return null;
      const item = open.item(link, row, target) ?? undefined;
      return item !== undefined && sees(target, item) ? item : undefined;
    },
  };
}

/** The view of an export, which has no secret fields (API specification, section 5.6). */
export function withoutSecrets(view: View): View {
  return { ...view, names: (table, name) => columnOf(table, name)?.type !== 'secret' && view.names(table, name) };
}

/**
 * The whole of what a role can see, as one text: of two databases with the same, the role must not be able to tell which
 * one it asks. The key of a visible row counts as seen, because every order is completed by it.
 */
export function describeView(view: View): string {
  const tables = [...view.world.tables.values()].filter(({ name }) => view.reads(name));
  return JSON.stringify(tables.map((table) => [table.name, ...describeTable(view, table)]));
}

function describeTable(view: View, table: Table): readonly Json[] {
  const names = namesOf(table).filter((name) => view.names(table, name));
  const rows = [...view.visible(table)].sort((one, other) => (keyText(table, one) < keyText(table, other) ? -1 : 1));
  return rows.map((row) => [keyText(table, row), ...names.map((name) => describeName(view, table, row, name))]);
}

function describeName(view: View, table: Table, row: Row, name: string): Json {
  const relation = relationOf(table, name);
  const own =
    columnOf(table, name) === undefined && relation?.kind === 'm2o' ? ownKey(view, table, row, relation) : null;
  const cell = columnOf(table, name) === undefined ? own : view.cell(table, row, name);
  if (relation === undefined || !view.reads(relation.target)) return cell;
  const related = view.related(table, row, relation);
  const target = view.tables(relation.target);
  const keys = related && orderRows(view, target, related, relation, row).map((one) => keyText(target, one));
  return [cell, keys, relation.kind === 'm2a' ? describeItems(view, relation, related ?? []) : null];
}

function describeItems(view: View, link: LinkRelation, rows: readonly Row[]): Json {
  return rows.map((row) =>
    link.allowed
      .filter((target) => view.reads(target))
      .map((target) => {
        const item = view.item(link, row, target);
        return item === undefined || item === null ? null : keyText(view.tables(target), item);
      }),
  );
}

/** What an m2o of several columns holds: the key fields of its target, or null when one of them is. */
export function ownKey(view: View, table: Table, row: Row, relation: Extract<Relation, { kind: 'm2o' }>): Json {
  if (view.related(table, row, relation) === null || relation.on.some(({ from }) => row[from] === null)) return null;
  return Object.fromEntries(relation.on.map(({ from, to }) => [to, row[from] ?? null]));
}
