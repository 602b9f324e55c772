/** Addresses that links in mail may lead to. Source: API specification, section 2.6. */

/**
 * The address as a URL when an allowed one has the same origin, and a path that begins its path, segment by segment.
 * Else null.
 *
 * Addresses that parsers read in different ways are never allowed: users and passwords, backslashes, spaces, control
 * characters, and slashes that are percent-encoded. Schemes other than http and https are not allowed either.
 */
export function allowedUrl(text: string, allowed: readonly string[]): URL | null {
  if (!/^https?:\/\//i.test(text) || /[\\\s\p{C}]|%(?:2f|5c|00)/iu.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || /^https?:\/\/[^/?#]*@/i.test(text)) return null;
  return allowed.some((entry) => covers(entry, url)) ? url : null;
}

function covers(entry: string, url: URL): boolean {
  const prefix = URL.parse(entry);
  if (prefix === null || prefix.origin !== url.origin) return false;
  const path = prefix.pathname.replace(/\/$/, '');
  return url.pathname === path || url.pathname.startsWith(`${path}/`);
}

/** The address with the token as its parameter `token`, in place of one that it may have. */
export function linkWith(address: string, token: string): string {
  const url = new URL(address);
  url.searchParams.set('token', token);
  return url.href;
}
