/** Address of a database whose password may change while a server runs: that in the file of DATABASE_URL_FILE. */
import { credentialsOf, hostUrls, withCredentials } from './host-list.ts';
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
