/** Values in the binary format of the protocol, made by hand for tests: independent of what reads them. */

/** Bytes of a 32-bit integer. */
export function int4(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Bytes of a 16-bit integer. */
export function int2(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

/** Bytes of a 64-bit integer. */
export function int8(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** UTF-8 bytes. */
export function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

/** Length and bytes of one column or element. */
export function value(bytes: Buffer | null): Buffer {
  return bytes === null ? int4(-1) : Buffer.concat([int4(bytes.length), bytes]);
}

/** The columns of a row, as they stand in a DataRow behind their number. */
export function row(...columns: readonly (Buffer | null)[]): Buffer {
  return Buffer.concat(columns.map(value));
}

/** A record; the oids do not matter to us and are those of text. */
export function record(...columns: readonly (Buffer | null)[]): Buffer {
  const fields = columns.map((column) => Buffer.concat([int4(25), value(column)]));
  return Buffer.concat([int4(columns.length), ...fields]);
}

/** An array of the given dimensions, its elements in row-major order; without dimensions the empty array. */
export function array(dimensions: readonly number[], elements: readonly (Buffer | null)[]): Buffer {
  const hasNull = elements.includes(null) ? 1 : 0;
  const sizes = dimensions.map((size) => Buffer.concat([int4(size), int4(1)]));
  return Buffer.concat([int4(dimensions.length), int4(hasNull), int4(25), ...sizes, ...elements.map(value)]);
}
