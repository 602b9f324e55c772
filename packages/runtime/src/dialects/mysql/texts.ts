/** Texts of MySQL and MariaDB: sent, kept and compared in utf8mb4, regardless of the database's default. */

export type MysqlServerName = 'mysql' | 'mariadb';

/** The collation under which texts that differ in anything are never equal. */
export function exactCollation(server: MysqlServerName): string {
  return server === 'mariadb' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

export function tableOptions(server: MysqlServerName): string {
  return `ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${exactCollation(server)}`;
}

/** A type of texts for a column of JSON_TABLE, which MariaDB gives the character set of the database. */
export function inputText(server: MysqlServerName, type = 'LONGTEXT'): string {
  return `${type} CHARACTER SET utf8mb4 COLLATE ${exactCollation(server)}`;
}

/** A part of SET: the character set of a session, which a server may choose itself (`skip-character-set-client-handshake`). */
export const sessionNames = 'NAMES utf8mb4 COLLATE utf8mb4_general_ci';

export function tick(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** The names of what is quoted by double quotes, of a table with its schema in front: `"shop"."items"`. */
export function namesIn(quoted: string): readonly string[] {
  const names = [...quoted.matchAll(/"((?:[^"]|"")*)"|`((?:[^`]|``)*)`/g)];
  return names.map(([, double, back]) => double?.replaceAll('""', '"') ?? back?.replaceAll('``', '`') ?? '');
}

/** Puts names in backticks that are quoted by double quotes. */
export function ticked(quoted: string): string {
  return namesIn(quoted).map(tick).join('.');
}

/** A text as a literal. Sessions in which backslashes stand for themselves are none of ours. */
export function quoteMysqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
