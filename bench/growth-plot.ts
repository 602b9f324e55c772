/** Plots of the bench of growth: an SVG with logarithmic axes, which looks the same in any viewer. */

/** A line of a plot; both coordinates are above zero. */
export interface PlotLine {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** A plot. */
export interface Plot {
  readonly title: string;
  /** Name of the horizontal axis. */
  readonly across: string;
  readonly lines: readonly PlotLine[];
}

const width = 640;
const height = 360;
const area = { left: 60, right: 430, top: 44, bottom: 306 } as const;
const colors = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df'];

interface Axis {
  /** Where a value stands on the axis, in pixels. */
  at(value: number): number;
}

/** Prints a plot. Each value of the horizontal axis has a tick, and values of the other one that people find round. */
export function printPlot({ title, across, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b);
  const ys = roundValues(points.map(({ y }) => y));
  const horizontal = axisOf(xs, area.left, area.right);
  const vertical = axisOf(ys, area.bottom, area.top);
  const parts = [
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    textAt(area.left, 24, title, 'font-size="15" font-weight="600"'),
    ...ys.flatMap((y) => [
      `<path d="M${area.left} ${placed(vertical.at(y))}H${area.right}" stroke="#d0d7de"/>`,
      textAt(area.left - 8, vertical.at(y) + 4, `${numberText(y)} ×`, 'text-anchor="end"'),
    ]),
    ...xs.map((x) => textAt(horizontal.at(x), area.bottom + 20, numberText(x), 'text-anchor="middle"')),
    textAt((area.left + area.right) / 2, area.bottom + 42, across, 'text-anchor="middle"'),
    ...lines.flatMap((line, index) => printLine(line, index, horizontal, vertical)),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `${head} font-family="sans-serif" font-size="12" fill="#1f2328">\n${parts.join('\n')}\n</svg>\n`;
}

function printLine({ label, points }: PlotLine, index: number, horizontal: Axis, vertical: Axis): readonly string[] {
  const color = colors[index % colors.length] ?? 'black';
  const places = points.map(({ x, y }) => `${placed(horizontal.at(x))} ${placed(vertical.at(y))}`);
  const legend = area.top + 8 + index * 22;
  return [
    `<path d="M${places.join('L')}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...places.map((place) => `<circle cx="${place.replace(' ', '" cy="')}" r="3" fill="${color}"/>`),
    `<path d="M${area.right + 18} ${legend}h16" stroke="${color}" stroke-width="3"/>`,
    textAt(area.right + 40, legend + 4, label),
  ];
}

function axisOf(values: readonly number[], from: number, to: number): Axis {
  const [least, most] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const length = most - least || 1;
  return { at: (value) => from + ((Math.log(value) - least) / length) * (to - from) };
}

/** 1, 2 and 5 of each power of ten from below the least value to above the greatest; powers alone where these are many. */
function roundValues(values: readonly number[]): readonly number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const powers = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))] as const;
  const steps = powers[1] - powers[0] > 2 ? [1] : [1, 2, 5];
  const found: number[] = [];
  for (let power = powers[0]; power <= powers[1]; power++) {
    for (const step of steps) found.push(Number((step * 10 ** power).toPrecision(1)));
  }
  const first = found.findLastIndex((value) => value <= least);
  const last = found.findIndex((value) => value >= most);
  return found.slice(Math.max(first, 0), last + 1);
}

function textAt(x: number, y: number, text: string, attributes = ''): string {
  return `<text x="${placed(x)}" y="${placed(y)}"${attributes && ` ${attributes}`}>${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function placed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function numberText(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
