/** Quotes names for SQL statements; they may contain any character. */
import type { Schema, Table } from '@tablewright/introspect/schema';

/** A column, or one part of another name: `"author id"`, on MySQL and MariaDB in backticks. */
export function quotedName(dialect: Schema['dialect'], name: string): string {
  return dialect === 'postgres' ? `"${name.replaceAll('"', '""')}"` : `\`${name.replaceAll('`', '``')}\``;
}

/** A table with its schema. On MySQL and MariaDB the schema `public` is the database of the connection. */
export function quotedTable(dialect: Schema['dialect'], { schema, name }: Pick<Table, 'schema' | 'name'>): string {
  const parts = dialect !== 'postgres' && schema === 'public' ? [name] : [schema, name];
  return parts.map((part) => quotedName(dialect, part)).join('.');
}
