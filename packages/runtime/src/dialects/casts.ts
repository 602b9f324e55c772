/** Appends casts to an expression: `::numeric::text`, or `CAST({} AS CHAR)` around it. */
export function cast(expression: string, casts: string | undefined): string {
  if (casts === undefined || casts === '') return expression;
  if (casts.includes('{}')) return casts.replaceAll('{}', () => expression);
  return /^[\w.]*(?:"(?:[^"]|"")*")?$/.test(expression) ? expression + casts : `(${expression})${casts}`;
}
