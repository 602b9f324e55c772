/**
 * Database servers that APIs are compiled for: their names, and facts that packages above and below the runtime need.
 * The rest of a dialect are folders: `dialects/<family>` in the runtime and the command line, `<family>` in introspect.
 */

/** Names of the servers; which of them it is, the server says itself. */
export const dialects = ['postgres', 'mysql', 'mariadb'] as const;

/** One of them. */
export type Dialect = (typeof dialects)[number];

/** Servers that speak one protocol and one SQL, but for details. */
export type Family = 'postgres' | 'mysql';

/** Facts of a server. */
export interface DialectFacts {
  readonly family: Family;
  /** Its name for people. */
  readonly title: string;
  /** True if databases have schemas. False: `public` stands for the connection's database, and nothing is qualified. */
  readonly hasSchemas: boolean;
  /** True if rows arrive in the binary form of their types. False: every value is selected as a text. */
  readonly binaryRows: boolean;
  /** Mark around names in sessions with default settings. */
  readonly quote: '"' | '`';
  /** True if the catalog quotes each name in the expression of a generated column. */
  readonly quotesNames: boolean;
  /** True if a backslash within a text is an escape, as it is by default. */
  readonly escapes: boolean;
  readonly namesIndexes: boolean;
  /** True if columns that a table numbers take their number also where null is written. */
  readonly numbersNulls: boolean;
  /** True if columns and indexes can have the words of a text. False: the server has FULLTEXT indexes. */
  readonly hasVectors: boolean;
  /** True if the server measures distances between vectors. */
  readonly measuresVectors: boolean;
  /** True if an index can leave rows out. */
  readonly partialIndexes: boolean;
  /** True if policies can hide rows from roles of the database. */
  readonly policies: boolean;
  /** True if identifiers that the database makes tell the time and the machine. */
  readonly guessableKeys: boolean;
  /** True if an INSERT returns the key that the database has made, of any type. */
  readonly returnsKeys: boolean;
  /** True if a spatial column can name the reference of its positions. */
  readonly hasSpatialReferences: boolean;
}

const others: Omit<DialectFacts, 'title' | 'returnsKeys' | 'hasSpatialReferences' | 'measuresVectors'> = {
  ...{ family: 'mysql', hasSchemas: false, binaryRows: false, quote: '`', quotesNames: true, escapes: true },
  ...{ namesIndexes: false, numbersNulls: true, guessableKeys: true },
  ...{ policies: false, hasVectors: false, partialIndexes: false },
};

/** The facts of each server. */
export const dialectFacts: Readonly<Record<Dialect, DialectFacts>> = {
  postgres: {
    ...{ family: 'postgres', title: 'PostgreSQL', hasSchemas: true, binaryRows: true, quote: '"', quotesNames: false },
    ...{ escapes: false, namesIndexes: true, numbersNulls: false, guessableKeys: false, returnsKeys: true },
    ...{ hasSpatialReferences: true, policies: true, hasVectors: true, measuresVectors: true, partialIndexes: true },
  },
  mysql: { ...others, title: 'MySQL', returnsKeys: false, hasSpatialReferences: true, measuresVectors: false },
  mariadb: { ...others, title: 'MariaDB', returnsKeys: true, hasSpatialReferences: false, measuresVectors: true },
};

/** The server of embedded databases, and of what was compiled before there were others. */
export const defaultDialect: Dialect = 'postgres';

/** Schema that stands for the database of the connection where databases have no schemas. */
export const ownSchema = 'public';

/** Schemes of URLs of databases, and the servers that they lead to. */
const schemes: Readonly<Record<string, Family>> = {
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/** Pattern of the beginning of such a URL. */
export const databaseUrlStart: string = `(?:${Object.keys(schemes).join('|')})://`;

/** An example of one. */
export const exampleDatabaseUrl = 'postgres://user:password@host:5432/database';

/** Name of the server of a URL for people; which server of a family it is, only the server knows. */
export function titleOf(url: string): string {
  const servers = dialects.filter((dialect) => dialectFacts[dialect].family === familyOf(url));
  const [server] = servers;
  return servers.length === 1 && server !== undefined ? dialectFacts[server].title : 'the database server';
}

/** Family of the server of a URL, and that of the default dialect for other texts. */
export function familyOf(url: string): Family {
  const scheme = /^(\w+):\/\//.exec(url)?.[1]?.toLowerCase();
  return schemes[scheme ?? ''] ?? dialectFacts[defaultDialect].family;
}

/**
 * Settings of every session on MySQL and MariaDB, as a part of SET; servers and `init_connect` may have others.
 *
 * Statements commit by themselves, nothing limits the rows that they read or change, and foreign keys are checked. Lists
 * are never cut. MariaDB takes no larger number for that, which is an error under STRICT_ALL_TABLES.
 */
export const mysqlSessionSettings = [
  'autocommit = 1',
  'completion_type = NO_CHAIN',
  'foreign_key_checks = 1',
  'unique_checks = 1',
  'sql_safe_updates = 0',
  'sql_big_selects = 1',
  'sql_select_limit = 18446744073709551615',
  'div_precision_increment = 4',
  'group_concat_max_len = 1073741824',
].join(', ');
