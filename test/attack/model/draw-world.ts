/** Draws a world: tables, what one role may read of them, who asks, and rows. */
import type { Draw } from './draw.ts';
import { drawFilter, type Names } from './draw-filters.ts';
import { drawRows } from './draw-rows.ts';
import { drawTables } from './draw-tables.ts';
import { pools } from './values.ts';
import { namesOf, type Rows, type Rule, type Table, tableOf, type World } from './world.ts';

/** A world with its rows. */
export interface Populated {
  readonly world: World;
  readonly rows: Rows;
}

/** Draws a world and the rows in it. */
export function drawWorld(draw: Draw): Populated {
  const tables = drawTables(draw);
  const rules = new Map([...tables.values()].map((table) => [table.name, drawRules(draw, tables, table)]));
  const user = draw.pick(['2', null, 'a', String(draw.pick(pools.uuid))]);
  const role = draw.pick(['editor', null, '1', 'b']);
  return { world: { tables, rules, asker: { user, role } }, rows: drawRows(draw, tables) };
}

/** No rules, one, or several; some of them grant everything, some nothing. */
function drawRules(draw: Draw, tables: World['tables'], table: Table): readonly Rule[] {
  const count = draw.pick([1, 1, 2, 3, 1, 2, 0]);
  return Array.from({ length: count }, () => drawRule(draw, tables, table));
}

function drawRule(draw: Draw, tables: World['tables'], table: Table): Rule {
  const filter = draw.chance(70) ? drawFilter(draw, everything(tables), table, 2) : null;
  if (draw.chance(15)) return { fields: namesOf(table), filter };
  const keys = draw.chance(85) ? table.key : [];
  const others = draw.some(
    namesOf(table).filter((name) => !table.key.includes(name)),
    70,
  );
  return { fields: draw.chance(4) ? [] : [...keys, ...others], filter };
}

/** Rules may name everything that there is. */
function everything(tables: World['tables']): Names {
  const world: World = { tables, rules: new Map(), asker: { user: null, role: null } };
  return { tables: (name) => tableOf(world, name), has: () => true, reads: (name) => tables.has(name) };
}
