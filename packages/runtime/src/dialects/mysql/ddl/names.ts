/**
 * Names and texts as MySQL and MariaDB read them under any setting for double quotes. Migrations are run in sessions of
 * the command line and of servers, which differ in that.
 */

/** A name in backticks. */
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
