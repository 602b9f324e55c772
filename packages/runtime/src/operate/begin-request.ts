/** First and last step of every request: it gets its identifier, and observers hear of its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestIds } from './request-id.ts';
import { type RequestObserver, RequestRecord, requestRecord, runWithin } from './request-record.ts';

/** Passes a request on to the code that answers it. */
export type PassRequest = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Makes the listener of a server. Without observers the request only gets its identifier; `isFollowed` makes it known to
 * what runs for it.
 */
export function beginRequests(
  readIds: (request: IncomingMessage) => RequestIds,
  observers: readonly RequestObserver[],
  isFollowed: boolean,
  pass: PassRequest,
): PassRequest {
  if (observers.length === 0) {
    return function beginUnobserved(request, response) {
      const { id, traceId } = readIds(request);
      const record = new RequestRecord(id, traceId, 0);
      request[requestRecord] = record;
      if (isFollowed) runWithin(record, pass, request, response);
      else pass(request, response);
    };
  }

  function end(this: ServerResponse): void {
    const record = this.req[requestRecord];
    if (record === undefined) return;
    const ms = performance.now() - record.startedAt;
    for (const observe of observers) observe(record, this, ms);
  }

  return function beginRequest(request, response) {
    const { id, traceId } = readIds(request);
    const record = new RequestRecord(id, traceId, performance.now());
    request[requestRecord] = record;
    response.on('close', end);
    runWithin(record, pass, request, response);
  };
}
