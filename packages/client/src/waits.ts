/** Waits that a caller may give up, and turns among all tabs of an origin. */

/** The promise, or the reason of the signal when that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Resolves after so many milliseconds, or rejects when the signal comes first. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const waiting = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return unlessAborted(waiting, signal).finally(() => clearTimeout(timer));
}

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
