import { type Chunk, joinChunks } from '../print/chunks.ts';

/** One file to write, below the output folder. */
export interface GeneratedFile {
  /** With `/` on every system: `routes/articles.js`. */
  readonly path: string;
  /** The whole text, UTF-8. A long file's text is put together at each access. */
  readonly contents: string;
  /** The same text as chunks that long files share. Default: it is in one chunk. */
  readonly chunks?: readonly Chunk[];
}

/** The statements of operations. The writer of the files makes it, because the runtime plans statements. */
export const plannedFile = 'graphql/documents.sql';

/** A file of long chunks, which need not be put together to be written. They are printed when they are first asked for. */
export function longFile(path: string, print: () => readonly Chunk[]): GeneratedFile {
  let printed: readonly Chunk[] | undefined;
  const chunks = (): readonly Chunk[] => {
    printed ??= print();
    return printed;
  };
  return {
    path,
    get chunks() {
      return chunks();
    },
    get contents() {
      return joinChunks(chunks());
    },
  };
}
