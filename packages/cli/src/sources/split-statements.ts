/** Splits files of several statements for servers that take one at a time. */

/** Skipped as a whole: texts, names, and comments. `--` is a comment if a blank follows, `/*!` is none. */
const skipped =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!!)[\s\S]*?\*\/|;/g;

/**
 * Statements of a file without the text between them. Semicolons within BEGIN … END of a procedure are not recognized.
 */
export function splitStatements(sqlText: string): readonly string[] {
  const statements: string[] = [];
  let text = '';
  let end = 0;
  for (const { 0: found, index } of sqlText.matchAll(skipped)) {
    text += sqlText.slice(end, index);
    end = index + found.length;
    if (found === ';') {
      statements.push(text.trim());
      text = '';
    } else if (!/^(?:--|#|\/\*)/.test(found)) text += found;
  }
  statements.push((text + sqlText.slice(end)).trim());
  return statements.filter((statement) => statement !== '');
}
