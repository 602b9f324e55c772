/** Quotes names for SQL statements; they may contain any character. */
import type { Schema, Table } from '@tablewright/introspect/schema';
import { dialectFacts, ownSchema } from '@tablewright/runtime/language';

/** A column, or one part of another name, between the quotes of the server. */
export function quotedName(dialect: Schema['dialect'], name: string): string {
  const { quote } = dialectFacts[dialect];
  return `${quote}${name.replaceAll(quote, `${quote}${quote}`)}${quote}`;
}

/** A table with its schema, unless that is the database of the connection. */
export function quotedTable(dialect: Schema['dialect'], { schema, name }: Pick<Table, 'schema' | 'name'>): string {
  const parts = !dialectFacts[dialect].hasSchemas && schema === ownSchema ? [name] : [schema, name];
  return parts.map((part) => quotedName(dialect, part)).join('.');
}
