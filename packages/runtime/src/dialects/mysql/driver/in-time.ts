import { ConnectionError } from '../../../database/errors.ts';

/**
 * Waits for an answer, as long as one may take; rejects after that, by default with `ConnectionError`. Infinity waits
 * for ever.
 */
export function inTime<T>(timeoutMs: number, result: Promise<T>, late: () => Error = silence): Promise<T> {
  if (!Number.isFinite(timeoutMs)) return result;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs).unref();
    result.then(
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

function silence(): Error {
  return new ConnectionError('No answer in time.');
}
