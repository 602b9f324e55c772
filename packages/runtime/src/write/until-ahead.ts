import type { Work } from './perform.ts';

/** How often a job runs again that others have overtaken: afterwards it is told so. */
const mostOvertaken = 3;

/** Runs work, again from the start when another request was faster. */
export async function untilAhead<T>({ overtaken }: Pick<Work, 'overtaken'>, run: () => Promise<T>): Promise<T> {
  for (let again = 0; ; again++) {
    try {
      return await run();
    } catch (error) {
      if (again >= mostOvertaken || overtaken?.(error) !== true) throw error;
    }
  }
}
