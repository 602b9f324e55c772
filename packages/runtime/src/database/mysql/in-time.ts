import { ConnectionError } from '../errors.ts';

/** Waits for an answer, as long as one may take; rejects with `ConnectionError` after that. Infinity waits for ever. */
export function inTime<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  if (!Number.isFinite(timeoutMs)) return answer;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ConnectionError('No answer in time.')), timeoutMs).unref();
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
