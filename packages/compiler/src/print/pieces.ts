/** Long texts in pieces, so that what several texts have in common is there once. */

/** A text that grows at its end. */
export interface Pieces {
  add(text: string): void;
  /** The whole text, when nothing is added any more. */
  all(): readonly string[];
}

/** Shorter ones are put together with their neighbours: characters. */
const worthwhile = 1024;

/** Starts an empty text. */
export function createPieces(): Pieces {
  const done: string[] = [];
  let open = '';
  return {
    add(text) {
      if (text.length < worthwhile) {
        open += text;
        return;
      }
      if (open !== '') done.push(open);
      done.push(text);
      open = '';
    },
    all: () => (open === '' ? done : [...done, open]),
  };
}
