/** Draws another database that a role cannot tell from the first: whatever it cannot see is changed, added or removed. */
import type { Draw } from './draw.ts';
import { drawRow, withoutTwins } from './draw-rows.ts';
import { createView, describeView } from './view.ts';
import { isJoined, type Row, type Rows, type Table, type World } from './world.ts';

/** A database like another one to a role, and how many changes lie between the two. */
export interface Twin {
  readonly rows: Rows;
  readonly changes: number;
}

/**
 * Tries so many changes and keeps those that leave what the role sees as it is. Keys of rows that it sees are kept: they
 * order its lists.
 */
export function drawTwin(draw: Draw, world: World, original: Rows, attempts: number): Twin {
  const seen = describeView(createView(world, original));
  let rows = original;
  let changes = 0;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const changed = drawChange(draw, world, rows);
    if (changed === undefined || describeView(createView(world, changed)) !== seen) continue;
    rows = changed;
    changes += 1;
  }
  return { rows: shuffled(draw, rows), changes };
}

/** One row changed, added or removed; undefined when that would break a foreign key. */
function drawChange(draw: Draw, world: World, rows: Rows): Rows | undefined {
  const table = draw.pick([...world.tables.values()]);
  const own = rows.get(table.name) ?? [];
  if (own.length === 0 || draw.chance(20)) return added(draw, world, rows, table);
  const row = draw.pick(own);
  const view = createView(world, rows);
  // What can be seen is mostly left alone: such a change would not be kept.
  if (view.visible(table).includes(row) && draw.chance(50)) return recelled(draw, world, rows, table, row);
  return draw.chance(30) ? removed(world, rows, table, row) : recelled(draw, world, rows, table, row);
}

function withRows(rows: Rows, table: Table, own: readonly Row[]): Rows | undefined {
  return withoutTwins(table, own).length === own.length ? new Map([...rows, [table.name, own]]) : undefined;
}

function added(draw: Draw, world: World, rows: Rows, table: Table): Rows | undefined {
  const fresh = `n${draw.integer(0, 99_999)}`;
  const key = Object.fromEntries(
    table.key.map((name) => {
      const type = table.columns.find((column) => column.name === name)?.type;
      if (type === 'uuid') return [name, `b0eebc99-9c0b-4ef8-bb6d-6bb9bd3${fresh.slice(1).padStart(5, '0')}`];
      return [name, type === 'text' ? fresh : draw.integer(-50, 500)];
    }),
  );
  return withRows(rows, table, [...(rows.get(table.name) ?? []), drawRow(draw, table, key, world.tables, rows)]);
}

/** Some cells of a row drawn anew; its key stays. */
function recelled(draw: Draw, world: World, rows: Rows, table: Table, row: Row): Rows | undefined {
  const key = Object.fromEntries(table.key.map((name) => [name, row[name] ?? null]));
  const other = drawRow(draw, table, key, world.tables, rows);
  const references = table.foreignKeys.map(({ on }) => on.map(({ from }) => from));
  const plain = table.columns.map(({ name }) => name).filter((name) => !references.flat().includes(name));
  const parts = [...plain.map((name) => [name]), ...references].filter((part) =>
    part.some((name) => !table.key.includes(name)),
  );
  if (parts.length === 0) return undefined;
  const chosen = draw.chance(50) ? [draw.pick(parts)] : draw.some(parts, 40);
  const cells = chosen
    .flat()
    .filter((name) => !table.key.includes(name))
    .map((name) => [name, other[name] ?? null]);
  const changed: Row = { ...row, ...Object.fromEntries(cells) };
  if (JSON.stringify(changed) === JSON.stringify(row)) return undefined;
  return withRows(
    rows,
    table,
    (rows.get(table.name) ?? []).map((one) => (one === row ? changed : one)),
  );
}

function removed(world: World, rows: Rows, table: Table, row: Row): Rows | undefined {
  for (const other of world.tables.values()) {
    for (const { target, on } of other.foreignKeys) {
      const pointing = target === table.name && (rows.get(other.name) ?? []).some((one) => isJoined(on, one, row));
      if (pointing) return undefined;
    }
  }
  return withRows(
    rows,
    table,
    (rows.get(table.name) ?? []).filter((one) => one !== row),
  );
}

/** The same rows stored in another order. */
function shuffled(draw: Draw, rows: Rows): Rows {
  return new Map(
    [...rows].map(([name, own]) => {
      const places = own.map((row) => ({ row, place: draw.integer(0, 1_000_000) }));
      return [name, places.sort((one, other) => one.place - other.place).map(({ row }) => row)];
    }),
  );
}
