/**
 * Names and texts as MySQL and MariaDB read them whatever a session says of double quotes: migrations are run in sessions of
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

/** What is quoted by double quotes in backticks. */
export function ticked(quoted: string): string {
  return namesIn(quoted).map(tick).join('.');
}

/** A text as a literal. Sessions in which backslashes stand for themselves are none of ours. */
export function quoteMysqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
