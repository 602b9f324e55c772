/** Draws tables with relations of every kind, and names the relations as the specification derives them. */
import type { Draw } from './draw.ts';
import { pools } from './values.ts';
import type { CellType, Column, ForeignKey, Pair, Relation, Table } from './world.ts';

/** Names that mean something to SQL, to statements or to paths, and plain ones. */
const columnNames = ['c0', 'order', 'x0', 'Mixed', 'k', 'c1', 'select', 'T0', 'c0_', 'p'];
const plainTypes: readonly CellType[] = [
  ...(['text', 'integer', 'string', 'boolean', 'timestamp', 'decimal', 'date', 'bigInteger', 'uuid', 'enum'] as const),
  ...(['json', 'array', 'secret'] as const),
];

/** A table whose relations are not known yet. */
export type Bare = Omit<Table, 'relations'>;

/** Draws the tables of a world, by name. */
export function drawTables(draw: Draw): ReadonlyMap<string, Table> {
  const plain = drawPlain(draw);
  const junctions = Array.from({ length: draw.pick([1, 0, 2]) }, (_, index) => drawJunction(draw, plain, `j${index}`));
  const links = draw.chance(85) ? [drawLinks(draw, plain)] : [];
  const single = draw.chance(30) ? [drawSingleton(draw, plain)] : [];
  const bare = [...plain, ...junctions, ...links.map(({ table }) => table), ...single];
  const relations = new Map(bare.map((table): [string, Relation[]] => [table.name, manyToOnes(table)]));
  const give = (name: string, relation: Relation): void => void relations.get(name)?.push(relation);
  const taken = new Map([...relations].map(([name, own]) => [name, own.map((relation) => relation.name)]));
  for (const table of bare) {
    for (const [parent, relation] of oneToManys(table, taken)) give(parent, drawSort(draw, relation, table));
  }
  for (const [index, junction] of junctions.entries()) {
    for (const [owner, relation] of manyToManys(junction, index)) give(owner, relation);
  }
  for (const { owner, relation } of links) give(owner, relation);
  return new Map(bare.map((table) => [table.name, { ...table, relations: relations.get(table.name) ?? [] }]));
}

/** Some relations to many have a sort field of their own. */
function drawSort(draw: Draw, relation: Relation, child: Bare): Relation {
  if (relation.kind !== 'o2m' || !draw.chance(30)) return relation;
  return { ...relation, sort: draw.pick(child.columns.filter(({ type }) => isSortable(type))).name };
}

function isSortable(type: CellType): boolean {
  return type === 'integer' || type === 'text' || type === 'uuid';
}

function drawPlain(draw: Draw): readonly Bare[] {
  const keys = Array.from({ length: draw.integer(2, 4) }, () => drawKey(draw));
  const bare = keys.map((key, index): Bare => {
    const names = [...columnNames];
    const columns = Array.from({ length: draw.integer(2, 5) }, () => {
      const [name = ''] = names.splice(draw.integer(0, names.length - 1), 1);
      return { name, type: draw.pick(plainTypes), nullable: draw.chance(75) };
    });
    const sorts = columns.filter(({ type }) => isSortable(type));
    return {
      name: `t${index}`,
      key: key.map(({ name }) => name),
      columns: [...key, ...columns],
      foreignKeys: [],
      ...(sorts.length > 0 && draw.chance(30) && { sort: draw.pick(sorts).name }),
    };
  });
  return bare.map((table) => addForeignKeys(draw, table, bare));
}

function drawKey(draw: Draw): readonly Column[] {
  const column = (name: string, type: CellType): Column => ({ name, type, nullable: false });
  return draw.pick([
    [column('id', 'integer')],
    [column('id', 'uuid')],
    [column('id', 'text')],
    [column('a', 'integer'), column('b', 'text')],
  ]);
}

/** Up to two foreign keys, to itself too; at most one of several columns to the same table. */
function addForeignKeys(draw: Draw, table: Bare, targets: readonly Bare[]): Bare {
  const added: Column[] = [];
  const keys: ForeignKey[] = [];
  for (let index = 0, count = draw.pick([1, 2, 0]); index < count; index++) {
    const target = draw.pick(targets);
    if (target.key.length > 1 && keys.some((key) => key.target === target.name)) continue;
    const nullable = target.name === table.name || draw.chance(70);
    const columns = keyColumns(target, `f${index}`).map((column) => ({ ...column, nullable }));
    added.push(...columns);
    keys.push({ target: target.name, on: pairs(columns, target) });
  }
  return { ...table, columns: [...table.columns, ...added], foreignKeys: keys };
}

/** Columns that hold the key of a table. */
export function keyColumns(target: Bare, name: string): readonly Column[] {
  const columns = target.key.flatMap((key) => target.columns.find((column) => column.name === key) ?? []);
  return columns.map(({ filled: _, ...column }) => ({
    ...column,
    name: columns.length === 1 ? name : `${name}_${column.name}`,
  }));
}

export function pairs(columns: readonly Column[], target: Bare): readonly Pair[] {
  return columns.map(({ name }, index) => ({ from: name, to: target.key[index] ?? '' }));
}

/** A junction: its key is both foreign keys, or a column of its own beside them. */
export function drawJunction(draw: Draw, plain: readonly Bare[], name: string): Bare {
  const left = draw.pick(plain);
  const right = draw.pick(left.key.length > 1 ? plain.filter((table) => table !== left) : plain);
  const ends = [keyColumns(left, 'l'), keyColumns(right, 'r')] as const;
  const both = ends.flat().map((column) => ({ ...column, nullable: false }));
  const own = draw.chance(40);
  const id: Column = { name: 'id', type: 'integer', nullable: false };
  const sort: Column = { name: 's', type: 'integer', nullable: true };
  return {
    name,
    columns: [...(own ? [id] : []), ...both, sort],
    key: own ? ['id'] : both.map((column) => column.name),
    ...(own && { unique: both.map((column) => column.name) }),
    foreignKeys: [
      { target: left.name, on: pairs(ends[0], left) },
      { target: right.name, on: pairs(ends[1], right) },
    ],
    ...(draw.chance(60) && { sort: 's' }),
  };
}

/** Both directions of a junction, under the names that `configOf` gives them. Its sort field, if any, is theirs too. */
export function manyToManys(junction: Bare, index: number): readonly (readonly [string, Relation])[] {
  const [left, right] = junction.foreignKeys;
  if (left === undefined || right === undefined) return [];
  const relation = (name: string, near: ForeignKey, far: ForeignKey): readonly [string, Relation] => [
    near.target,
    {
      kind: 'm2m',
      name,
      target: far.target,
      junction: junction.name,
      near: near.on.map(({ from, to }) => ({ from: to, to: from })),
      far: far.on,
      ...(junction.sort !== undefined && { sort: junction.sort }),
    },
  ];
  return [relation(`m${index}`, left, right), relation(`w${index}`, right, left)];
}

/** Link rows of a many-to-any, and the relation that reads them. */
export function drawLinks(draw: Draw, plain: readonly Bare[]) {
  const simple = plain.filter(({ key }) => key.length === 1);
  const [first] = simple;
  const owner = first === undefined ? undefined : draw.pick(simple);
  const itemField = draw.pick(['item', 'thing']);
  const text = (name: string): Column => ({ name, type: 'text', nullable: true });
  const parent = owner === undefined ? [] : keyColumns(owner, 'p').map((column) => ({ ...column, nullable: true }));
  const table: Bare = {
    name: 'links',
    key: ['id'],
    columns: [
      { name: 'id', type: 'integer', nullable: false },
      ...parent,
      text('kind'),
      text(itemField),
      { name: 's', type: 'integer', nullable: true },
    ],
    foreignKeys: owner === undefined ? [] : [{ target: owner.name, on: pairs(parent, owner) }],
  };
  const allowed = draw.some(simple, 70).map(({ name }) => name);
  const relation: Relation = {
    kind: 'm2a',
    name: 'any',
    target: 'links',
    on: parent.map(({ name }) => ({ from: 'id', to: name })),
    kindField: 'kind',
    itemField,
    allowed: allowed.length > 0 ? allowed : simple.slice(0, 1).map(({ name }) => name),
    ...(draw.chance(70) && { sort: 's' }),
  };
  return { table, owner: owner?.name ?? '', relation };
}

function drawSingleton(draw: Draw, plain: readonly Bare[]): Bare {
  const target = draw.pick(plain);
  const types = ['text', 'integer', 'boolean', 'decimal', 'enum'] as const;
  const columns = draw.some(types, 70).map((type, index): Column => {
    const column = { name: `d${index}`, type, nullable: true };
    return draw.chance(60) ? { ...column, default: draw.pick(pools[type]) } : column;
  });
  const reference = keyColumns(target, 'f').map((column) => ({ ...column, nullable: true }));
  return {
    name: 'single',
    key: ['id'],
    columns: [{ name: 'id', type: 'integer', nullable: false }, ...columns, ...reference],
    foreignKeys: [{ target: target.name, on: pairs(reference, target) }],
    singleton: true,
  };
}

/** A key of one column is named as it, one of several as what it leads to. */
export function manyToOnes({ foreignKeys }: Bare): Relation[] {
  return foreignKeys.map(({ target, on }) => ({
    kind: 'm2o',
    name: on.length === 1 ? (on[0]?.from ?? '') : target,
    target,
    on,
  }));
}

/** The inverses: named as the child where that name is free and means one foreign key, else after the key as well. */
export function oneToManys(
  { name, foreignKeys }: Bare,
  taken: ReadonlyMap<string, readonly string[]>,
): readonly (readonly [string, Relation])[] {
  return foreignKeys.map(({ target, on }) => {
    const only = foreignKeys.filter((other) => other.target === target).length === 1;
    const inverse =
      only && taken.get(target)?.includes(name) !== true ? name : `${name}_by_${on.map(({ from }) => from).join('_')}`;
    return [
      target,
      { kind: 'o2m', name: inverse, target: name, on: on.map(({ from, to }) => ({ from: to, to: from })) },
    ];
  });
}
