/** Address of a database whose password may change while a server runs: that in the file of DATABASE_URL_FILE. */
import { type Variables, variableText } from './variable-text.ts';

/** An address to connect to. */
export interface RenewableUrl {
  /** As it was read last. */
  current(): string;
  /** The address to try after the database refused the password of another one; null if there is no other. */
  renew(refused: string): string | null;
}

/** An address that never changes. */
export function fixedUrl(url: string): RenewableUrl {
  return { current: () => url, renew: () => null };
}

/** The address that variables name; one from a file is read again, and its user and password are taken over. */
export function renewableUrl(variables: Variables, url: string): RenewableUrl {
  const file = variables.DATABASE_URL_FILE?.trim() ?? '';
  const text = (): string | null => {
    const reading = variableText(variables, 'DATABASE_URL');
    return 'value' in reading ? reading.value : null;
  };
  if (file === '' || text() !== url) return fixedUrl(url);
  let current = url;
  return {
    current: () => current,
    renew(refused) {
      if (current === refused) current = renewed(current, text());
      return current === refused ? null : current;
    },
  };
}

/** Another host or database is a matter of a start. */
function renewed(url: string, other: string | null): string {
  return other === null || credentialsOf(other) === '' ? url : withCredentials(url, credentialsOf(other));
}

/** One host of an address of several, by its position there. */
export function hostAddress(list: RenewableUrl, position: () => number): RenewableUrl {
  const pick = (url: string): string => {
    const urls = hostUrls(url);
    return urls[position()] ?? urls[0] ?? url;
  };
  return {
    current: () => pick(list.current()),
    renew(refused) {
      if (pick(list.current()) !== refused) return pick(list.current());
      const other = list.renew(list.current());
      return other === null ? null : pick(other);
    },
  };
}

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

/**
 * The URL of an address with one host; null where it is none. The host may be among the parameters, as a folder of a socket.
 * @example parseAddress('scheme://me@/shop?host=/run/database')
 */
export function parseAddress(address: string): URL | null {
  return URL.parse(address.replace(/^(\w+:\/\/[^/?#]*@)(?=\/[^?#]*\?(?:[^#]*&)?host=)/, '$1localhost'));
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
function credentialsOf(url: string): string {
  return /^\w+:\/\/([^/?#]*@)?/.exec(url)?.[1] ?? '';
}

/** The same address with other credentials, as `credentialsOf` gives them. */
function withCredentials(url: string, credentials: string): string {
  return url.replace(/^(\w+:\/\/)(?:[^/?#]*@)?/, (_, scheme: string) => `${scheme}${credentials}`);
}
