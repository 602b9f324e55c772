/** The lines in which two texts differ, for people: all between their common beginning and their common end. */

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
