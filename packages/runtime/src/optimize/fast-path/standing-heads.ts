/**
 * Heads of answers whose headers are mostly the same. Node checks the characters of each header and joins them one by
 * one, for each answer. Here those that never change are one text, which Node puts in front of the others.
 */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Heads } from '../../http/fastify-adapter.ts';
import { listHeaders, type StandingHeaders, type WriteHead } from '../../http/responses/answer.ts';

/** An import of it would cost each start a tenth of its work: see `http/failures.ts`. */
const http = process.getBuiltinModule('node:http');

declare module 'node:http' {
  interface ServerResponse {
    /** Node makes the text of a head by it, from the line of the status on. */
    _storeHeader(statusLine: string, headers: unknown): void;
  }
}

/** A response that has a text after the line of its status, whose characters are known to be allowed. */
class StandingResponse<Request extends IncomingMessage = IncomingMessage> extends http.ServerResponse<Request> {
  standing = '';

  override _storeHeader(statusLine: string, headers: unknown): void {
    const { standing } = this;
    this.standing = '';
    super._storeHeader(statusLine + standing, headers);
  }
}

/** The way to write heads; undefined where Node makes them in another way than we know of. */
export function standingHeads(): Heads | undefined {
  if (!isKnownToNode()) return undefined;
  return { ServerResponse: StandingResponse, writeHead: writeStandingHead };
}

function isKnownToNode(): boolean {
  const response = new StandingResponse(new http.IncomingMessage(new Socket()));
  response.standing = 'X-Probe: 1\r\n';
  response.writeHead(200, ['Content-Length', '0']);
  return response.standing === '' && response.headersSent;
}

type StandingTexts = ReturnType<typeof textsOf>;

const texts = new WeakMap<StandingHeaders, StandingTexts>();

const writeStandingHead: WriteHead = (response, status, head) => {
  const { standing, id, others } = head;
  const cachedTexts = texts.get(standing);
  if (cachedTexts === undefined || !(response instanceof StandingResponse)) {
    response.writeHead(status, listHeaders(head));
    // Node has not refused these headers, so they are allowed in a text.
    if (standing.repeats === true) texts.set(standing, textsOf(standing));
    return;
  }
  response.standing = cachedTexts.before + id + cachedTexts.after;
  response.writeHead(status, others);
};

function textsOf({ before, after }: StandingHeaders) {
  return { before: `${textOf(before)}X-Request-Id: `, after: `\r\n${textOf(after)}` };
}

function textOf(headers: readonly string[]): string {
  return headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
}
