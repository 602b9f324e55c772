/** Plain English of every text that a user reads: strings of the packages, scripts of their pages, and documentation. */
import ts from 'typescript';
import { listFiles, nodesOf, parseSource, readText } from '../files.ts';
import type { Source } from './sources.ts';

/** A text, and where it starts in its file. */
interface Text {
  readonly path: string;
  readonly text: string;
  readonly line: number;
}

/** A sentence that begins with a word that hides its subject; one that ends as a question may. */
const beginning =
  /(?:^|[.!?:;]["')`]?\s+|\n\s*(?:(?:[-*|>]|#+|\d+\.)\s+)?)(?:What|Whose|Who|Of|Nobody|Somebody|Whoever|Whatever)\b(?![^.!\n]*\?)/g;

/** Words without a subject, wherever they stand. */
const hidden = /\b(?:nobody|somebody|whoever|whatever)\b/gi;

/** Released migrations keep their bytes. */
const excepted = /\/migrations\/|\/print-migration\.ts$/;

/** Sentences of texts that begin with a question word, or name no subject. */
export function obscureTexts(sources: readonly Source[]): readonly string[] {
  return [...sources.flatMap(stringsOf), ...scripts(), ...pages()]
    .filter(({ path }) => !excepted.test(path))
    .flatMap(({ path, text, line }) =>
      [...text.matchAll(beginning), ...text.matchAll(hidden)].map((match) => {
        const end = match.index + match[0].length;
        return `${path}:${line + text.slice(0, end).split('\n').length - 1} ${text.slice(match.index, end + 40).trim()}`;
      }),
    );
}

/** String literals, and the parts of templates. */
function stringsOf({ path, tree }: Pick<Source, 'path' | 'tree'>): readonly Text[] {
  return nodesOf(tree)
    .filter(isText)
    .map((node) => ({
      path,
      text: node.text,
      line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1,
    }));
}

type TextNode = ts.StringLiteralLike | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail;

function isText(node: ts.Node): node is TextNode {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
}

/** Scripts that browsers run: their strings, and their comments line by line. */
function scripts(): readonly Text[] {
  return listFiles('packages/*/browser/**/*.js').flatMap((path) => {
    const text = readText(path);
    const comments = text.split('\n').flatMap((line, index) => {
      const comment = /^\s*(?:\/\*\*|\*|\/\/) (.*)/.exec(line)?.[1];
      return comment === undefined ? [] : [{ path, text: comment, line: index + 1 }];
    });
    return [...stringsOf({ path, tree: parseSource(path, text) }), ...comments];
  });
}

function pages(): readonly Text[] {
  return listFiles(
    '*.md',
    'docs/**/*.md',
    'bench/**/*.md',
    'packages/**/*.md',
    'templates/**/*.{md,html,txt,yaml}',
  ).map((path) => ({ path, text: readText(path), line: 1 }));
}
