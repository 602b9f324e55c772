/** The functions of fields (API specification, section 5.3). */
import type { Eyes } from './conditions.ts';
import { columnOf, type Json, type Row, relationOf, type Table } from './world.ts';

/** The result of a function on a row: null where the cell, or the cell of the relation, is hidden. */
export function functionOf(eyes: Eyes, table: Table, row: Row, call: string, name: string): Json {
  const relation = relationOf(table, name);
  if (call === 'count' && relation !== undefined && relation.kind !== 'm2o') {
    return eyes.related(table, row, relation)?.length ?? null;
  }
  const cell = eyes.cell(table, row, name);
  if (cell === null) return null;
  if (call === 'count') return Array.isArray(cell) ? cell.length : null;
  const isDate = columnOf(table, name)?.type === 'date';
  const date = new Date(isDate ? `${String(cell)}T00:00:00Z` : String(cell));
  return partOf(call, date);
}

function partOf(call: string, date: Date): number {
  switch (call) {
    case 'year':
      return date.getUTCFullYear();
    case 'month':
      return date.getUTCMonth() + 1;
    case 'week':
      return weekOf(date);
    case 'day':
      return date.getUTCDate();
    case 'weekday':
      return date.getUTCDay();
    case 'hour':
      return date.getUTCHours();
    case 'minute':
      return date.getUTCMinutes();
    case 'second':
      return date.getUTCSeconds();
    default:
      throw new Error(`unknown function ${call}`);
  }
}

/** The ISO 8601 week: that of the year in which its Thursday lies. */
function weekOf(date: Date): number {
  const thursday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const start = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return Math.floor((thursday.getTime() - start) / (7 * 86_400_000)) + 1;
}
