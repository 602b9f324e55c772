/** A table of Markdown, laid out as the formatter does; cells may hold anything but line breaks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => widthOf(cells[column] ?? ''))));
  const print = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => padded(cells[column] ?? '', width)).join(' | ')} |`;
  const [first = [], ...others] = lines;
  return [print(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(print)].join('\n');
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text));
}

function widthOf(text: string): number {
  return [...text].length;
}

/** Text as code; nothing for nothing. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** Makes a sentence of what help says in a few words. */
export function sentence(text: string): string {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(1)}${/[.?!…]$/.test(text) ? '' : '.'}`;
}

/** A page with one part printed anew: what stands between `<!-- printed: name -->` and `<!-- /printed -->`. */
export function withPart(page: string, name: string, text: string): string {
  const part = new RegExp(`(<!-- printed: ${name} -->\\n)[\\s\\S]*?(<!-- /printed -->)`);
  if (!part.test(page)) throw new Error(`No part "${name}" in the page.`);
  return page.replace(part, (_, begin: string, end: string) => `${begin}\n${text.trim()}\n\n${end}`);
}
