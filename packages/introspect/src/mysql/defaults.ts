/** Defaults as the servers report them → SQL in one spelling, which the compiler reads. */

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', 0: '\0', Z: '\x1a' };

/**
 * The expression of a default. A text becomes a literal whose only escape is the doubled quote: MariaDB writes others with
 * a backslash, and MySQL writes all of `_utf8mb4'…'` so once more.
 */
export function defaultExpression(reported: string): string {
  const sql = /^_\w+\\'/.test(reported) ? reported.replaceAll(/\\([\\'])/g, '$1') : reported;
  const [, inner] = /^(?:_\w+)?'((?:[^'\\]|\\.|'')*)'$/s.exec(sql) ?? [];
  return inner === undefined ? sql : textLiteral(inner.replaceAll(/\\(.)|''/gs, unescaped));
}

/** A text between quotes. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function unescaped(written: string, escaped: string | undefined): string {
  return escaped === undefined ? written.slice(1) : (escapes[escaped] ?? escaped);
}
