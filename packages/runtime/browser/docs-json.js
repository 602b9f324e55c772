/** JSON in lines. Numbers stay as they came: reading them would lose digits. */

/**
 * Breaks a text of JSON into lines; any other text stays as it is.
 *
 * @param {string} text
 */
export function inLines(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+|[^\s"{}[\],:]+/g, (token) => {
    if (/^\s/.test(token)) return '';
    if (token === '{' || token === '[') {
      depth += 1;
      return token + line();
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return line() + token;
    }
    if (token === ',') return token + line();
    return token === ':' ? ': ' : token;
  });
}
