/** What the tests of the database drivers share. */
import type { RowSink, Statement } from '../../packages/runtime/src/database/database.ts';

/** A statement named after its text. */
export function statement(text: string): Statement {
  return { name: `t_${Buffer.from(text).toString('base64url').slice(0, 56)}`, text };
}

/** A sink that keeps the first column of every row as the bytes it came in. */
export interface Collected extends RowSink {
  readonly rows: Buffer[];
  /** The first columns as text. */
  readonly texts: () => string[];
}

/** Makes such a sink. */
export function collect(): Collected {
  const rows: Buffer[] = [];
  return {
    rows,
    texts: () => rows.map((row) => row.toString('utf8')),
    row(buffer, offset) {
      const length = buffer.readInt32BE(offset);
      rows.push(Buffer.from(buffer.subarray(offset + 4, offset + 4 + Math.max(length, 0))));
    },
  };
}

/** Waits until `check` holds, at most twenty seconds; returns whether it did. */
export async function eventually(check: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
