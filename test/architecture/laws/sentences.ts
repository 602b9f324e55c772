/** Sentences of comments and of the documentation: short ones, whose subject is named. */
import { listFiles, readText } from '../files.ts';
import type { Source } from './sources.ts';

/** A sentence, and where its comment or paragraph begins. */
interface Sentence {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Words of a sentence at most. */
const maxWords = 25;

/** Beginnings of sentences, and words, that name no subject. */
const hiddenSubject =
  /^(?:What|Whose|Whom|Who|Whether|Which|Why|How|Of)\b(?!.*\?$)|\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Ww]hatever)\b/;

/** Comments that begin a sentence with a question word, or name no subject. */
export function obscureComments(sources: readonly Source[]): readonly string[] {
  return sources
    .flatMap(commentsOf)
    .filter(({ text }) => hiddenSubject.test(text))
    .map(placed);
}

/** Sentences of comments and of the pages for users that are too long to be read at once. */
export function longSentences(sources: readonly Source[]): readonly string[] {
  return [...sources.flatMap(commentsOf), ...pages()].filter(({ text }) => wordsOf(text) > maxWords).map(placed);
}

function placed({ path, line, text }: Sentence): string {
  return `${path}:${line} ${text.slice(0, 60)}`;
}

function pages(): readonly Sentence[] {
  return listFiles('README.md', 'docs/*.md', 'packages/*/README.md').flatMap((path) =>
    sentencesOf(readText(path)).map((text) => ({ path, line: 1, text })),
  );
}

/** Sentences of the comments that have lines of their own. */
function commentsOf({ path, text }: Pick<Source, 'path' | 'text'>): readonly Sentence[] {
  const found: { readonly line: number; readonly lines: string[] }[] = [];
  let isOpen = false;
  for (const [index, line] of text.split('\n').entries()) {
    const [, sign, body = ''] = /^\s*(\/\*\*|\*(?!\/)|\/\/)\s?(.*)$/.exec(line) ?? [];
    if (sign === undefined || sign === '/**') isOpen = false;
    if (sign === undefined) continue;
    if (!isOpen) found.push({ line: index + 1, lines: [] });
    found.at(-1)?.lines.push(body.replace(/\s*\*\/\s*$/, ''));
    isOpen = !line.includes('*/');
  }
  return found.flatMap(({ line, lines }) =>
    sentencesOf(lines.join('\n')).map((sentence) => ({ path, line, text: sentence })),
  );
}

/** Sentences of a text without its code; entries of lists and cells of tables stand alone. */
function sentencesOf(text: string): readonly string[] {
  return text
    .replace(/```[\s\S]*?```/g, '\n\n')
    .replace(/^@example[\s\S]*$/m, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|>#@]|\d+\.))|\s\|\s/)
    .flatMap((part) =>
      part
        .replace(/\s+/g, ' ')
        .trim()
        .split(/(?<=[.!?:;][)"'`]?)\s+(?=[A-Z`"(*[$@])/),
    )
    .filter((part) => part !== '');
}

function wordsOf(text: string): number {
  const plain = text.replace(/`[^`]*`/g, 'x').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return plain.split(/\s+/).filter((part) => /\w/.test(part)).length;
}
