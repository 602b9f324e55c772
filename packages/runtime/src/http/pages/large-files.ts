/** Files of pages that are large and never change while a server runs. */
import { entityTag, matchesTag } from '../../entity-tag.ts';
import type { Endpoint, Handler } from '../endpoints.ts';
import { mediaTypes, type Responder } from '../responses/answer.ts';

/**
 * Answers a file, which is read when it is first asked for. A browser asks whether it has it already. `policy` is for a
 * script that runs as a thread.
 */
export function largeFile(responder: Responder, url: string, read: () => Promise<Buffer>, policy?: string): Endpoint {
  const type = url.endsWith('.css') ? mediaTypes.css : mediaTypes.script;
  let reading: Promise<{ readonly body: Buffer; readonly tag: string }> | undefined;
  const handler: Handler = async (httpContext) => {
    reading ??= read().then((body) => ({ body, tag: entityTag(body) }));
    const { body, tag } = await reading;
    const sent = httpContext.request.headers['if-none-match'];
    const isUnchanged = sent !== undefined && matchesTag(sent, tag);
    const more = { headers: ['ETag', tag], ...(policy !== undefined && { policy }) };
    responder.send(httpContext, isUnchanged ? { status: 304, ...more } : { status: 200, type, body, ...more });
  };
  return { url, handlers: new Map([['GET', handler]]) };
}
