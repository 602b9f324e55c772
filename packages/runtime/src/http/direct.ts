/**
 * The short way: reads of items go from Node's server to their handler without the web framework, whose router, request
 * and reply take a tenth of the time of such a request and decide nothing about it.
 *
 * Nothing is judged differently here. Token and route are read by the same `CallReader`, and whatever is to happen before
 * a handler of every request belongs there, not into a hook of the framework.
 */
import type { IncomingMessage } from 'node:http';
import type { Answerer, Exchange } from './answer.ts';
import type { Call, CallReader } from './call.ts';
import { toAnswerError } from './failures.ts';
import { type Log, logFailure } from './log.ts';

/** Answers GET below `/items`; rejects with the error that answers the request. */
export type ReadItems = (exchange: Exchange, call: Call) => Promise<void>;

/** Tells whether a request can take the short way: a GET below `/items` that brings no body. */
export function isDirect({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    url.startsWith('/items/') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** Judges and answers a request of which `isDirect` holds. Never rejects. */
export async function answerDirectly(
  exchange: Exchange,
  readCall: CallReader,
  readItems: ReadItems,
  answerer: Answerer,
  log: Log,
): Promise<void> {
  try {
    const call = readCall(exchange.request, true);
    await readItems(exchange, call instanceof Promise ? await call : call);
  } catch (thrown) {
    const error = toAnswerError(thrown);
    logFailure(log, exchange.request, error);
    answerer.fail(exchange, error);
  }
}
