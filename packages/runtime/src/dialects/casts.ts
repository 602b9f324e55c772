/** A value in the form in which a column stores it: cast to a type, or within an expression. */
export function castStored(
  value: string,
  { stored, native }: { readonly stored?: string; readonly native: string },
): string {
  const form = stored ?? native;
  return form.includes('{}') ? form.replaceAll('{}', () => value) : `${value}::${form}`;
}

/** Appends casts to an expression: `::numeric::text`, or `CAST({} AS CHAR)` around it. */
export function cast(expression: string, casts: string | undefined): string {
  if (casts === undefined || casts === '') return expression;
  if (casts.includes('{}')) return casts.replaceAll('{}', () => expression);
  return /^[\w.]*(?:"(?:[^"]|"")*")?$/.test(expression) ? expression + casts : `(${expression})${casts}`;
}
