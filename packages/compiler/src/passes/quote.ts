/** SQL spelling of names and texts. The only place where the compiler quotes an identifier. */
import { type Dialect, dialectFacts } from '@tablewright/runtime/language';

/** An identifier in double quotes, escaped for SQL: `"author_id"`. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in single quotes, ready for SQL where backslashes stand for themselves, as they do by default. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A qualified name, ready for SQL: `"public"."articles"`. */
export function quoteQualified(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** A table's name, quoted for SQL. Without schemas the IR's `public` is the database of the connection. */
export function quoteTable(
  dialect: Dialect,
  { schema, name }: { readonly schema: string; readonly name: string },
): string {
  const isOwn = !dialectFacts[dialect].hasSchemas && schema === 'public';
  return isOwn ? quoteIdentifier(name) : quoteQualified(schema, name);
}

/** Reads `schema.name`, where a part that contains a dot or a double quote is in double quotes, into its two parts. */
export function splitQualified(id: string): { readonly schema: string; readonly name: string } {
  const parts = [...id.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
  );
  const [schema = '', name = ''] = parts;
  return { schema, name };
}

/** Writes what `splitQualified` reads. */
export function qualifiedId(schema: string, name: string): string {
  return [schema, name].map((part) => (/[."]/.test(part) ? quoteIdentifier(part) : part)).join('.');
}
