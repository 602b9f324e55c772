/** Parts of the texts of the platform's own tables that all servers share. */
import type { OwnColumn, OwnTable } from './table.ts';

/** Columns that are named like a word of SQL. */
const reserved = new Set(['user', 'timestamp', 'group']);

export function name(column: string): string {
  return reserved.has(column) ? `"${column}"` : column;
}

export function names(columns: readonly string[]): string {
  return columns.map(name).join(', ');
}

export function columnOf({ columns }: OwnTable, column: string): OwnColumn {
  const declared = columns[column];
  if (declared === undefined) throw new Error(`There is no column "${column}".`);
  return typeof declared === 'string' ? { type: declared } : declared;
}

export function indexesOf(table: OwnTable): readonly { readonly name: string; readonly columns: readonly string[] }[] {
  return (table.indexes ?? []).map((index) => {
    const [suffix, ...columns] = typeof index === 'string' ? [index, index] : index;
    return { name: `${table.name}_${suffix}_idx`, columns };
  });
}

/** The predicate of a column; undefined where every value is allowed. */
export function ruleOf(column: string, { among, check }: Pick<OwnColumn, 'among' | 'check'>): string | undefined {
  return among === undefined ? check : `${column} IN (${among.map(literal).join(', ')})`;
}

export function literal(value: string | number | boolean | symbol): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Texts one behind the other, without empty ones. */
export function textsOf(texts: readonly string[], separator: string): string {
  return `\n${texts.filter((text) => text !== '').join(separator)}\n`;
}
