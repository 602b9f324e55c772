/** Draws tables to write trees into: every way that keys are given, and every relation, with what it does on removal. */
import type { Draw } from '../model/draw.ts';
import {
  type Bare,
  drawJunction,
  drawLinks,
  keyColumns,
  manyToManys,
  manyToOnes,
  oneToManys,
  pairs,
} from '../model/draw-tables.ts';
import type { Column, ForeignKey, Relation, Table } from '../model/world.ts';

/** Column by which rows are told apart whose keys the database makes; no two rows have the same. */
export const mark = 'mark';
/** Number that must stay below 100. */
export const number = 'n';

/** Draws the tables of a world, by name: plain ones `t0`, junctions `j0`, and the links of a many-to-any. */
export function drawTreeTables(draw: Draw): ReadonlyMap<string, Table> {
  const plain = drawPlain(draw);
  const junctions = Array.from({ length: draw.pick([1, 2, 0]) }, (_, index) =>
    withExtras(drawJunction(draw, plain, `j${index}`)),
  );
  const drawnLinks = draw.chance(60) ? [drawLinks(draw, plain)] : [];
  const links = drawnLinks
    .filter(({ owner }) => owner !== '')
    .map((one) => ({ ...one, table: markedLinks(one.table) }));
  const bare = [...plain, ...junctions, ...links.map(({ table }) => table)];
  const relations = new Map(bare.map((table): [string, Relation[]] => [table.name, manyToOnes(table)]));
  const taken = new Map([...relations].map(([name, own]) => [name, own.map((relation) => relation.name)]));
  const give = (name: string, relation: Relation): void => void relations.get(name)?.push(relation);
  for (const table of bare) {
    for (const [parent, relation] of oneToManys(table, taken)) give(parent, withManners(draw, relation, table));
  }
  for (const [index, junction] of junctions.entries()) {
    for (const [owner, relation] of manyToManys(junction, index)) give(owner, relation);
  }
  for (const { owner, relation } of links) give(owner, relation);
  return new Map(bare.map((table) => [table.name, { ...table, relations: relations.get(table.name) ?? [] }]));
}

function drawPlain(draw: Draw): readonly Bare[] {
  const bare = Array.from({ length: draw.integer(2, 3) }, (_, index): Bare => {
    const key = drawKey(draw);
    const unique = draw.chance(40);
    const columns: Column[] = [
      ...key,
      { name: mark, type: 'text', nullable: true },
      drawNumber(draw),
      { name: 'owner', type: 'text', nullable: false, default: 'me' },
      ...(unique ? [{ name: 'u', type: 'text', nullable: true } as const] : []),
    ];
    return {
      name: `t${index}`,
      key: key.map(({ name }) => name),
      columns,
      foreignKeys: [],
      ...(unique && { unique: ['u'] }),
    };
  });
  return bare.map((table, index) => addForeignKeys(draw, table, index, bare));
}

function drawNumber(draw: Draw): Column {
  const column: Column = { name: number, type: 'integer', nullable: true };
  return draw.pick([column, { ...column, default: 7 }, { ...column, nullable: false, default: 8 }]);
}

function drawKey(draw: Draw): readonly Column[] {
  const column = (name: string, type: Column['type']): Column => ({ name, type, nullable: false });
  return draw.pick([
    [{ ...column('id', 'integer'), filled: 'identity' }],
    [column('id', 'integer')],
    [{ ...column('id', 'uuid'), filled: 'uuid' }],
    [{ ...column('id', 'integer'), filled: 'serial' }],
    [column('id', 'text')],
    [column('a', 'integer'), column('b', 'text')],
  ]);
}

/** Foreign keys with a place in order beside each; those that must be there lead to earlier tables, so that rows can be made. */
function addForeignKeys(draw: Draw, table: Bare, index: number, targets: readonly Bare[]): Bare {
  const added: Column[] = [];
  const keys: ForeignKey[] = [];
  for (let place = 0, count = draw.pick([1, 2, 1, 0]); place < count; place++) {
    const target = draw.pick(targets);
    if (target.key.length > 1 && keys.some((key) => key.target === target.name)) continue;
    const nullable = targets.indexOf(target) >= index || draw.chance(60);
    const columns = keyColumns(target, `f${place}`).map((column) => ({ ...column, nullable }));
    added.push(...columns, { name: `s${place}`, type: 'integer', nullable: true });
    keys.push({ target: target.name, on: pairs(columns, target) });
  }
  return { ...table, columns: [...table.columns, ...added], foreignKeys: keys };
}

/** Columns of a junction beside the pair. */
function withExtras(junction: Bare): Bare {
  const columns = junction.columns.map(
    (column): Column => (column.name === 'id' ? { ...column, filled: 'identity' } : column),
  );
  return { ...junction, columns: [...columns, { name: 'x', type: 'text', nullable: true, default: 'd' }] };
}

function markedLinks(table: Bare): Bare {
  const columns = table.columns.map(
    (column): Column => (column.name === 'id' ? { ...column, filled: 'identity' } : column),
  );
  return { ...table, columns: [...columns, { name: mark, type: 'text', nullable: true }] };
}

/** Order and removal of a one-to-many. */
function withManners(draw: Draw, relation: Relation, child: Bare): Relation {
  if (relation.kind !== 'o2m') return relation;
  const place = /^f(\d)/.exec(relation.on[0]?.to ?? '')?.[1];
  const sort = place === undefined ? undefined : `s${place}`;
  const sorted = sort !== undefined && child.columns.some(({ name }) => name === sort) && draw.chance(50);
  return { ...relation, ...(sorted && { sort }), ...(draw.chance(60) && { onDeselect: 'delete' }) };
}

/** What configuration says of the numbers, as SQL. */
export function checksSql(tables: ReadonlyMap<string, Table>): string {
  const checked = [...tables.values()].filter(({ columns }) => columns.some(({ name }) => name === number));
  return checked.map(({ name }) => `ALTER TABLE ${name} ADD CHECK (${number} < 100);`).join('\n');
}
