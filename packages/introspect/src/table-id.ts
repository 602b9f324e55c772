/** `schema.name`; a part that contains a dot or a double quote is in double quotes. */
export type TableId = string;

/**
 * Names an object of a schema: `public.articles`.
 *
 * A part that contains a dot or a double quote stands in double quotes, its own quotes doubled. So two different pairs
 * never share an id. Used for tables, and in the same way for types and collations.
 */
export function tableId(schema: string, name: string): TableId {
  return `${idPart(schema)}.${idPart(name)}`;
}

function idPart(name: string): string {
  return /[."]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
