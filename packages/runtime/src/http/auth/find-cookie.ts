/** The first cookie of that name in the header of a request; an empty one is none. */
export function findCookie(header: string | undefined, name: string): string | null {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals === -1 || part.slice(0, equals).trim() !== name) continue;
    const value = part.slice(equals + 1).trim();
    return value === '' ? null : value;
  }
  return null;
}
