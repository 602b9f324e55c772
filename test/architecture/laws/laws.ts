/**
 * Laws of the tree: each measures one figure, which may fall and never rise. `today` is the figure at the last commit that
 * moved it; `bound` is where the redesign leads.
 */
import { dirname } from 'node:path/posix';
import ts from 'typescript';
import { listFiles, nodesOf } from '../files.ts';
import { circlesIn, fileGraph, roomGraph } from './circles.ts';
import { longSentences, obscureComments } from './sentences.ts';
import { linesOf, type Source } from './sources.ts';
import { obscureTexts } from './texts.ts';
import { bareVariables, privateNames } from './words.ts';

/** Figure of a law, and places that add most to it. */
export interface Measure {
  readonly figure: number;
  readonly places: readonly string[];
}

/** A law, with its figure today and where it shall end. */
export interface Law {
  readonly name: string;
  readonly today: number;
  readonly bound: number;
  readonly measure: (sources: readonly Source[]) => Measure;
}

export const laws: readonly Law[] = [
  { name: 'lines in packages', today: 134_796, bound: 91_000, measure: linesInPackages },
  {
    name: 'files in packages',
    today: 900,
    bound: 900,
    measure: (sources) => counted(sources.map(({ path }) => path)),
  },
  { name: 'files of a folder', today: 23, bound: 25, measure: largestFolder },
  { name: 'lines of a file', today: 399, bound: 400, measure: longestFile },
  { name: 'lines of a function', today: 60, bound: 60, measure: longestFunction },
  {
    name: 'rooms in circles of imports',
    today: 0,
    bound: 0,
    measure: (sources) => circles(roomGraph(fileGraph(sources))),
  },
  { name: 'files in circles of imports', today: 0, bound: 0, measure: (sources) => circles(fileGraph(sources)) },
  { name: 'accessors of object literals in functions', today: 11, bound: 11, measure: literalAccessors },
  { name: 'tables keyed by the type of columns', today: 0, bound: 0, measure: typeTables },
  { name: 'files that name a database', today: 5, bound: 5, measure: dialectFiles },
  { name: 'private words as names', today: 0, bound: 0, measure: (sources) => counted(privateNames(sources)) },
  { name: 'variables without a noun', today: 0, bound: 0, measure: (sources) => counted(bareVariables(sources)) },
  { name: 'comments without a subject', today: 0, bound: 0, measure: (sources) => counted(obscureComments(sources)) },
  {
    name: 'sentences of more than 25 words',
    today: 0,
    bound: 0,
    measure: (sources) => counted(longSentences(sources)),
  },
  { name: 'texts without a subject', today: 0, bound: 0, measure: (sources) => counted(obscureTexts(sources)) },
  { name: 'pages of decisions', today: 15, bound: 15, measure: () => counted(listFiles('docs/decisions/*.md')) },
];

function counted(places: readonly string[]): Measure {
  return { figure: places.length, places };
}

function largest(figures: readonly (readonly [place: string, figure: number])[]): Measure {
  const sorted = [...figures].sort(([, a], [, b]) => b - a);
  return { figure: sorted[0]?.[1] ?? 0, places: sorted.map(([place, figure]) => `${place} ${figure}`) };
}

function linesInPackages(sources: readonly Source[]): Measure {
  const figure = sources.reduce((sum, { lines }) => sum + lines, 0);
  return { figure, places: longestFile(sources).places };
}

function largestFolder(sources: readonly Source[]): Measure {
  const folders = Map.groupBy(sources, ({ path }) => dirname(path));
  return largest([...folders].map(([folder, files]) => [folder, files.length]));
}

function longestFile(sources: readonly Source[]): Measure {
  return largest(sources.map(({ path, lines }) => [path, lines]));
}

function longestFunction(sources: readonly Source[]): Measure {
  const functions = sources.flatMap(({ path, tree }) =>
    nodesOf(tree)
      .filter((node) => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
      .map(
        (node) => [`${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`, linesOf(node)] as const,
      ),
  );
  return largest(functions);
}

/**
 * Getters and setters that each run of a function makes. V8 keeps a hidden class for each, which holds what they refer to
 * until it collects all of its memory: one by request kept requests for seconds, and cost a tenth of those by key.
 */
function literalAccessors(sources: readonly Source[]): Measure {
  const isRepeated = (node: ts.Node): boolean =>
    ts.isAccessor(node) &&
    ts.isObjectLiteralExpression(node.parent) &&
    ts.findAncestor(node.parent, ts.isFunctionLike) !== undefined;
  const runtime = sources.filter(({ path }) => path.startsWith('packages/runtime/src/'));
  return counted(
    runtime.flatMap(({ path, tree }) =>
      nodesOf(tree)
        .filter(isRepeated)
        .map(() => path),
    ),
  );
}

function circles(graph: Parameters<typeof circlesIn>[0]): Measure {
  return counted(circlesIn(graph).flat());
}

/** Records and lists of types of columns; the home of types may have them, and each dialect a line for a type. */
function typeTables(sources: readonly Source[]): Measure {
  const table =
    /\b(Readonly)?(Record|Map|Set)<(Exclude<)?(PortableType|FieldDescriptor\['type'\])|\[\w+ in PortableType\]|\breadonly PortableType\[\]/g;
  return counted(
    sources
      .filter(({ path }) => !path.startsWith('packages/runtime/src/language/types/'))
      .flatMap(({ path, text }) => [...text.matchAll(table)].map(() => path)),
  );
}

/** Files that name a database, outside the folders and files that are named after one. */
function dialectFiles(sources: readonly Source[]): Measure {
  const database = /postgres|pglite|mysql|mariadb/i;
  return counted(
    sources.filter(({ path, text }) => !database.test(path) && database.test(text)).map(({ path }) => path),
  );
}
