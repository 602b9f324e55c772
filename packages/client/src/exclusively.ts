/** One at a time, among all tabs of an origin. */
import { sleep } from './abort.ts';

/** The part of the locks of browsers that is used here. */
interface Locks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

/** Milliseconds that what one tab writes to `localStorage` may take to be seen by another: they are separate processes. */
const propagation = 150;

/** Runs a task when no other tab runs one of this name; where tabs cannot know of each other, at once. */
export function exclusively<T>(name: string, task: () => Promise<T>): Promise<T> {
  const { navigator: browser }: { readonly navigator?: { readonly locks?: Locks } } = globalThis;
  const { locks } = browser ?? {};
  if (locks === undefined) return task();
  return new Promise((resolve, reject) => {
    const holding = async (): Promise<void> => {
      // The caller goes on at once; the next tab waits until it can see what was written.
      await task().then(resolve, reject);
      await sleep(propagation, undefined);
    };
    locks.request(name, holding).catch(reject);
  });
}
