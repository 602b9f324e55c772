/** Columns that a writing statement returns to the query around it. */
export interface Returning {
  /** Returns an expression of the written row, and gives its name outside. */
  take(expression: string): string;
  /** Returns a quoted column of the written row, and gives its name outside. */
  column(quoted: string): string;
  /** The list after RETURNING; never empty. */
  list(): string;
}

/** Starts the list: `column` takes columns of the written table to expressions, `outer` is the alias outside. */
export function createReturning(column: (quoted: string) => string, outer: string): Returning {
  const names = new Map<string, string>();
  function select(expression: string): string {
    const name = names.get(expression) ?? `r${names.size}`;
    names.set(expression, name);
    return `${outer}.${name}`;
  }
  return {
    take: select,
    column: (quoted) => select(column(quoted)),
    list: () =>
      names.size === 0 ? '1' : [...names].map(([expression, name]) => `${expression} AS ${name}`).join(', '),
  };
}
