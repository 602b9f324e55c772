/** Addresses with several hosts, as libpq writes them: `scheme://u:p@a:5432,b:5432/db?target_session_attrs=read-write`. */

/** Sessions that an address may ask for; servers are told apart by the state that they report. */
const writing: readonly string[] = ['any', 'read-write', 'primary'];
const reading: readonly string[] = ['any', 'read-only', 'standby', 'prefer-standby'];

const parts = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;
const attribute = /([?&])target_session_attrs=([^&#]*)(&?)/;

/**
 * The address of each host of an address; one with a single host stays as it is.
 * @example
 * hostUrls('scheme://u:p@a:3306,b/db'); // ['scheme://u:p@a:3306/db', 'scheme://u:p@b/db']
 */
export function hostUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = parts.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  const plain = after.replace(attribute, (_, separator: string, _value, more: string) =>
    more === '' ? '' : separator,
  );
  return [...new Set(hosts.split(','))].map((host) => `${before}${host}${plain}`);
}

/** Problem of an address of several hosts, as a part of a sentence about its variable; null if there is none. */
export function hostListProblem(url: string, purpose: 'write' | 'read'): string | null {
  const [, , hosts = ''] = parts.exec(url) ?? [];
  if (hosts.includes(',') && hosts.split(',').includes('')) return 'names a host without a name.';
  const requested = attribute.exec(url)?.[2];
  const allowed = purpose === 'write' ? writing : reading;
  if (requested === undefined || allowed.includes(requested)) return null;
  return `asks for unknown sessions: target_session_attrs must be ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}.`;
}

/** User and password of an address, as they are written there, with the `@`; empty where it has none. */
export function credentialsOf(url: string): string {
  return /^\w+:\/\/([^/?#]*@)?/.exec(url)?.[1] ?? '';
}

/** The same address with other credentials, as `credentialsOf` gives them. */
export function withCredentials(url: string, credentials: string): string {
  return url.replace(/^(\w+:\/\/)(?:[^/?#]*@)?/, (_, scheme: string) => `${scheme}${credentials}`);
}
