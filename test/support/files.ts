/** Bodies with files, for tests that upload. */

/** A part of a form: a field, or a file with its name. */
export type Part = readonly [name: string, value: string | Blob, fileName?: string];

/** A form of these parts, in their order. */
export function form(...parts: readonly Part[]): FormData {
  const body = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, value, fileName);
  }
  return body;
}

/** A file as a part. */
export function file(content: string | Buffer, name = 'note.txt', type = 'text/plain'): Part {
  return ['file', new Blob([new Uint8Array(Buffer.from(content))], { type }), name];
}
