/** Prints rows under headings, in columns as wide as their contents. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

/** `1 table`, `3 tables`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Lines beginning with `-` and `+`, at most `limit` of each; further lines are counted. Without line numbers. */
export function lineDifference(before: string, after: string, limit: number): readonly string[] {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(was.length, is.length);
  let start = 0;
  while (start < shorter && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  return [
    ...marked('-', was.slice(start, was.length - end), limit),
    ...marked('+', is.slice(start, is.length - end), limit),
  ];
}

function marked(prefix: string, lines: readonly string[], limit: number): readonly string[] {
  const shown = lines.slice(0, limit).map((line) => `${prefix} ${line}`);
  return lines.length > limit ? [...shown, `${prefix} … ${lines.length - limit} more`] : shown;
}
