/** Which tables are small enough to be read as a whole, where a statement is about thousands of their rows. */
import type { Database } from '../../../database/database.ts';

/** Bytes of a table that reads as fast as some thousands of rows by their keys. */
const smallBytes = 16_777_216;
/** Milliseconds after which a size is asked for again. */
const freshMs = 10_000;
/** Lists of tables that are remembered; all are forgotten together. */
const maxRemembered = 1_000;

/** True where all tables exist, are small, and no others inherit from them. */
export const sizeQuery = `SELECT bool_and(COALESCE(c.relkind = 'r' AND NOT c.relhassubclass AND pg_catalog.pg_relation_size(c.oid) <= ${smallBytes}, FALSE))::text
FROM pg_catalog.unnest($1::text[]) AS t (name) LEFT JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(t.name)`;

interface Size {
  areSmall: boolean;
  queriedAt: number;
}

/** Remembers sizes, and asks for them beside the statements, which never wait for that. */
export class TableSizes {
  readonly #sizes = new Map<string, Size>();
  readonly #query: Database['query'];

  constructor(query: Database['query']) {
    this.#query = query;
  }

  /** True if all tables were small when they were last looked at; false before. */
  areSmall(tables: readonly string[], now = performance.now()): boolean {
    const key = tables.join();
    const size = this.#sizes.get(key) ?? { areSmall: false, queriedAt: Number.NEGATIVE_INFINITY };
    if (now - size.queriedAt < freshMs) return size.areSmall;
    size.queriedAt = now;
    if (this.#sizes.size >= maxRemembered) this.#sizes.clear();
    this.#sizes.set(key, size);
    void this.#ask(tables, size);
    return size.areSmall;
  }

  async #ask(tables: readonly string[], size: Size): Promise<void> {
    try {
      const list = tables.map((table) => `"${table.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
      const [row] = await this.#query(sizeQuery, [`{${list.join()}}`]);
      size.areSmall = row?.[0] === 'true';
    } catch {
      // The statement itself will tell what is wrong with the database.
      size.areSmall = false;
    }
  }
}
