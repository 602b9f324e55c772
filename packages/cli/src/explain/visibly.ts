import { visible } from '@tablewright/introspect';
import type { Progress } from '../terminal/progress.ts';

/** Prints lines in which no name, value or plan can move the cursor of a terminal or turn the direction of its text. */
export function visibly(progress: Progress): Progress {
  return { ...progress, print: (line) => progress.print(visible(line)) };
}
