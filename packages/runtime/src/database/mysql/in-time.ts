import { ConnectionError } from '../errors.ts';

/** Waits for an answer, as long as one may take; rejects with `ConnectionError` after that. Infinity waits for ever. */
export async function inTime<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  if (!Number.isFinite(timeoutMs)) return answer;
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new ConnectionError('No answer in time.')), timeoutMs).unref();
  try {
    return await Promise.race([answer, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}
