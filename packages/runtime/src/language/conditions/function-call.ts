/** A function call in a name: `year(released)`. */
export interface FunctionCall {
  readonly function: string;
  readonly argument: string;
}

/** Splits `year(released)`; undefined when the name has no such form. */
export function parseCall(name: string): FunctionCall | undefined {
  if (!name.endsWith(')')) return undefined;
  const match = /^([A-Za-z_]\w*)\((.*)\)$/s.exec(name);
  return match === null ? undefined : { function: match[1] ?? '', argument: match[2] ?? '' };
}
