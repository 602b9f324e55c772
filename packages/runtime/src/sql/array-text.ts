/** Arrays of one dimension in their text form (`{a,b}`), which all dialects answer and take. */

/** Elements of an array as the database prints one of a single dimension; none for null. */
export function readElements(text: string | null | undefined): readonly (string | null)[] {
  if (text === null || text === undefined || text === '{}') return [];
  const elements: (string | null)[] = [];
  const pattern = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs;
  for (const [, quoted, plain] of text.slice(1, -1).matchAll(pattern)) {
    if (quoted !== undefined) elements.push(quoted.replace(/\\(.)/gs, '$1'));
    else elements.push(plain === 'NULL' ? null : (plain ?? null));
  }
  return elements;
}

/** Texts, one per row and column, from one array per column. */
export function readRows(arrays: readonly (string | null | undefined)[]): readonly (readonly string[])[] {
  const columns = arrays.map(readElements);
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ''));
}

/** Places from 0, of an array of places from 1. */
export function readPlaces(text: string | null | undefined): readonly number[] {
  return readElements(text).map((position) => Number(position) - 1);
}
