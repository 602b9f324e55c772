/** SQL spelling of names and texts. */
import { type Dialect, dialectFacts } from './dialects.ts';

/** An identifier in double quotes, escaped for SQL: `"author_id"`. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in single quotes, ready for SQL where backslashes stand for themselves, as they do by default. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text as a literal that means the same under every setting of a server whose backslashes stand for themselves. */
export function quoteText(text: string): string {
  const literal = quoteLiteral(text);
  return text.includes('\\') ? `E${literal.replaceAll('\\', '\\\\')}` : literal;
}

/** A qualified name, ready for SQL: `"public"."articles"`. */
export function quoteQualified(schema: string, name: string): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

/** A table's name, quoted for SQL. Without schemas the IR's `public` is the database of the connection. */
export function quoteTable(
  dialect: Dialect,
  { schema, name }: { readonly schema: string; readonly name: string },
): string {
  const isOwn = !dialectFacts[dialect].hasSchemas && schema === 'public';
  return isOwn ? quoteName(name) : quoteQualified(schema, name);
}

/** Reads `schema.name`, where a part that contains a dot or a double quote is in double quotes, into its two parts. */
export function splitQualified(id: string): { readonly schema: string; readonly name: string } {
  const parts = [...id.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
  );
  const [schema = '', name = ''] = parts;
  return { schema, name };
}

/**
 * Names an object of a schema as `splitQualified` reads it: `public.articles`. The double quotes are there so that two
 * different pairs never share an id. Used for tables, and in the same way for types and collations.
 */
export function tableId(schema: string, name: string): string {
  return [schema, name].map((part) => (/[."]/.test(part) ? quoteName(part) : part)).join('.');
}
