/** Columns that a writing statement returns to the query around it. */
export interface Returning {
  /** Returns an expression of the written row, and gives its name outside. */
  take(expression: string): string;
  /** Returns a quoted column of the written row, and gives its name outside. */
  column(quoted: string): string;
  /** The list after RETURNING; never empty. */
  list(): string;
}

/** Starts the list: `alias` is the written table's inside, `outer` that of the statement outside. */
export function createReturning(alias: string, outer: string): Returning {
  const names = new Map<string, string>();
  function select(expression: string): string {
    const name = names.get(expression) ?? `r${names.size}`;
    names.set(expression, name);
    return `${outer}.${name}`;
  }
  return {
    take: select,
    column: (quoted) => select(`${alias}.${quoted}`),
    list: () =>
      names.size === 0 ? '1' : [...names].map(([expression, name]) => `${expression} AS ${name}`).join(', '),
  };
}
