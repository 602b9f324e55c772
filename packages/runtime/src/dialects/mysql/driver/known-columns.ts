/** The columns of an answer, as the server described them: seldom others than those of the answer before. */

import { oftenUsed } from '../../../json/fields.ts';
import type { ShapeField } from '../../../json/shape.ts';
import type { Transcoder } from '../../../json/transcode.ts';
import { createBoundedCache } from '../../../language/values/bounded-cache.ts';
import { findOrCreate } from '../../../language/values/once.ts';
import { type ColumnDefinition, lengthAt, widthOf } from '../rows/columns.ts';
import { createDirectTranscoder, createRowWriter, type RowWriter } from '../rows/transcode.ts';

/** After the names of a column: length of the rest, character set, width, type, flags, decimals and nothing. */
const behindNames = { size: 13, type: 7, flags: 8 } as const;

/** Names in front of that of a column: catalog, schema, and the table by two names. */
const namesBefore = 4;

/** Counts rows, and makes items of them once there are enough to make that worthwhile; null if it cannot be made. */
interface Direct {
  rows: number;
  transcode: Transcoder | null | undefined;
}

/** Cached columns of answers, shared by all connections. */
const kept = createBoundedCache<KnownColumns>(500);

/** The columns of these descriptions. Throws if the name of one contradicts its type. */
export function knownColumns(descriptions: readonly Buffer[]): KnownColumns {
  return findOrCreate(kept, Buffer.concat(descriptions).toString('latin1'), () => new KnownColumns(descriptions));
}

/** Some columns, and the function that writes their rows. */
export class KnownColumns {
  readonly descriptions: readonly Buffer[];
  /** Writes a row as PostgreSQL would send it. */
  readonly writeRow: RowWriter;
  readonly #columns: readonly ColumnDefinition[];
  /** By the fields of plans, of which each has its own. */
  readonly #direct = new WeakMap<readonly ShapeField[], Direct>();

  constructor(descriptions: readonly Buffer[]) {
    this.descriptions = descriptions;
    this.#columns = descriptions.map(definitionOf);
    this.writeRow = createRowWriter(this.#columns);
  }

  /** Writer of rows as items of these fields; undefined if rows are sent in PostgreSQL's form. */
  transcoderOf(fields: readonly ShapeField[]): Transcoder | undefined {
    const direct = this.#direct.get(fields);
    if (direct === undefined || direct.rows < oftenUsed) return undefined;
    if (direct.transcode === undefined) direct.transcode = createDirectTranscoder(fields, this.#columns);
    return direct.transcode ?? undefined;
  }

  /** Notes that so many items of these fields were read. */
  count(fields: readonly ShapeField[], rows: number): void {
    const direct = this.#direct.get(fields);
    if (direct === undefined) this.#direct.set(fields, { rows, transcode: undefined });
    else direct.rows += rows;
  }
}

function definitionOf(description: Buffer): ColumnDefinition {
  let offset = 0;
  const behind = (): number => offset + widthOf(description[offset] ?? 0) + lengthAt(description, offset);
  for (let name = 0; name < namesBefore; name++) offset = behind();
  const rest = description.length - behindNames.size;
  return {
    name: description.toString('utf8', offset + widthOf(description[offset] ?? 0), behind()),
    columnType: description[rest + behindNames.type] ?? 0,
    flags: description.readUInt16LE(rest + behindNames.flags),
  };
}
