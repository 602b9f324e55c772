/** Faults of the URL of a database, in words that never repeat it: it may hold a password. */

/** One sentence, and the cure as another one. */
interface UrlProblem {
  readonly message: string;
  readonly hint: string;
}

/** Databases that projects can have, and the one that they have by themselves. */
export const databaseTitles = 'PostgreSQL, MySQL or MariaDB database';
export const embeddedTitle = 'embedded PostgreSQL';

/** Server that the tables of templates are written for. */
export const templateServer = 'PostgreSQL';

/** True if the tables of templates fit the server of a URL. */
export function fitsTemplates(url: string): boolean {
  return url.startsWith('postgres');
}

const form = 'postgres://user:password@host:5432/database, or with mysql: or mariadb: in front';
const schemes: ReadonlySet<string> = new Set(['postgres:', 'postgresql:', 'mysql:', 'mariadb:']);

/**
 * The fault of a URL that `subject` (`DATABASE_URL`) holds; null where a database of that address may exist.
 * @example const problem = databaseUrlProblem(process.env.DATABASE_URL ?? '', 'DATABASE_URL');
 */
export function databaseUrlProblem(list: string, subject: string): UrlProblem | null {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*:)\/\//.exec(list)?.[1];
  if (scheme === undefined)
    return { message: `${subject} does not begin as a URL does.`, hint: `Write it as ${form}.` };
  if (!schemes.has(scheme)) {
    const message = `${subject} begins with "${scheme}", which is no kind of database that Tablewright reads.`;
    return { message, hint: `Write ${likelyScheme(scheme) ?? `it as ${form}`}.` };
  }
  const url = firstHost(list);
  // Text after a # belongs to no database: it is the rest of a password.
  if (!URL.canParse(url) || new URL(url).hash !== '') {
    const hint = `Write it as ${form}; in a password # is %23, / is %2F and @ is %40.`;
    return { message: `${subject} cannot be read as a URL.`, hint };
  }
  if (!scheme.startsWith('postgres') && new URL(url).pathname.length < 2) {
    return {
      message: `${subject} names no database.`,
      hint: `Write it as ${scheme}//user:password@host:3306/database.`,
    };
  }
  return null;
}

/** The address with the first of its hosts alone: `postgres://a:5432,b:5432/c` has two. */
function firstHost(list: string): string {
  return list.replace(/^([^/]*\/\/(?:[^/?#]*@)?[^/?#,]*),[^/?#]*/, '$1');
}

/** The scheme that a misspelt one was to be; null where nothing speaks for one. */
function likelyScheme(scheme: string): string | null {
  if (/^p/i.test(scheme)) return 'postgres:// in front';
  if (/maria/i.test(scheme)) return 'mariadb:// in front';
  return /^my/i.test(scheme) ? 'mysql:// in front' : null;
}
