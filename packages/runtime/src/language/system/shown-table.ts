import { type Dialect, dialectFacts, ownSchema } from '../dialects.ts';

/** A table as people know it, by its id or `schema.name`: `public.articles`, or `articles` without schemas. */
export function printTable(dialect: Dialect, id: string): string {
  return !dialectFacts[dialect].hasSchemas && id.startsWith(`${ownSchema}.`) ? id.slice(ownSchema.length + 1) : id;
}
