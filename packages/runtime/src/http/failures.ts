/** Refusals of the web framework and of Node itself, in the codes of the API specification, section 9. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errorBody, PlatformError, toPlatformError } from '../errors.ts';
import {
  endRequest,
  newRequestId,
  type PassRequest,
  type RequestRecord,
  requestRecord,
} from '../operate/request-record.ts';

/** An import of it would have Node load its client of HTTP and WebSockets, a tenth of the work of a start. */
const http = process.getBuiltinModule('node:http');

interface Refusal {
  readonly code: ErrorCode;
  readonly message?: string;
}

const unencoded: Refusal = {
  code: 'INVALID_QUERY',
  message: 'The first line is no HTTP request: blanks and letters beyond ASCII in an address must be percent-encoded.',
};

/** Codes of Fastify and Node that name a fault of the request. Every other error is a bug of ours. */
const refusals: ReadonlyMap<string, Refusal> = new Map<string, Refusal>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', { code: 'INVALID_PAYLOAD', message: 'The body is too large.' }],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', { code: 'INVALID_PAYLOAD', message: 'The body has not the stated length.' }],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', { code: 'UNSUPPORTED_MEDIA_TYPE' }],
  ['FST_ERR_BAD_URL', { code: 'ROUTE_NOT_FOUND' }],
  ['FST_ERR_MAX_PARAM_LENGTH', { code: 'ROUTE_NOT_FOUND' }],
  ['FST_ERR_NOT_FOUND', { code: 'ROUTE_NOT_FOUND' }],
  ['ECONNRESET', { code: 'INVALID_PAYLOAD', message: 'The body ended too early.' }],
  ['HPE_INVALID_EOF_STATE', { code: 'INVALID_PAYLOAD', message: 'The request ended too early.' }],
  ['HPE_HEADER_OVERFLOW', { code: 'INVALID_QUERY', message: 'The address or the headers are too long.' }],
  ['HPE_INVALID_URL', unencoded],
  ['HPE_INVALID_CONSTANT', unencoded],
  ['ERR_HTTP_REQUEST_TIMEOUT', { code: 'INVALID_PAYLOAD', message: 'The request took too long to arrive.' }],
]);

/** Advice where a file was sent as the body itself. */
export const filesInForms = 'Send a file as a part of a form, multipart/form-data.';

/** Takes anything thrown while a request was handled to the error that answers it. */
export function toAnswerError(thrown: unknown): PlatformError {
  const refusal = refusals.get(codeOf(thrown));
  return refusal === undefined
    ? toPlatformError(thrown)
    : new PlatformError(refusal.code, refusal.message, {}, { cause: thrown });
}

/**
 * Answers a connection on which no request could be read, and closes it. Node hands over the bare socket, so the answer
 * is written by hand; an unparsable request is INVALID_PAYLOAD. Requests before it on the connection are answered first,
 * because a client takes the first answer for that of its first request. `observe` has the observers of requests see it.
 */
export function answerBrokenRequest(
  thrown: Error,
  socket: Socket,
  observe: (pass: PassRequest) => PassRequest = (pass) => pass,
): void {
  if (responseInProgress(socket) !== undefined && socket.writable && codeOf(thrown) !== 'ECONNRESET') {
    closeAfterResponses(socket);
    return;
  }
  if (codeOf(thrown) === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const refusal = refusals.get(codeOf(thrown)) ?? { code: 'INVALID_PAYLOAD', message: 'This is not an HTTP request.' };
  const underWay = messageOf(socket);
  if (underWay === null) {
    const request = Object.assign(new http.IncomingMessage(socket), { method: '', url: '' });
    const response = new http.ServerResponse(request);
    // The response has no connection, whose end would end the request.
    observe(() => refuseBroken(refusal, socket, request[requestRecord]))(request, response);
    endRequest(response);
    return;
  }
  // A body that cannot be read belongs to a request that is observed already; so does one whose client has left.
  const hasLeft = codeOf(thrown) === 'HPE_INVALID_EOF_STATE';
  refuseBroken(refusal, socket, hasLeft ? undefined : underWay.req[requestRecord]);
}

/** Writes the answer, and notes it for observers. */
function refuseBroken({ code, message }: Refusal, socket: Socket, record: RequestRecord | undefined): void {
  const body = errorBody([new PlatformError(code, message)]);
  const bytes = Buffer.byteLength(body);
  socket.end(`${brokenHead(record?.id ?? newRequestId(), bytes)}${body}`);
  if (record !== undefined) Object.assign(record, { brokenStatus: 400, errors: [code], bytes });
}

function brokenHead(requestId: string, bytes: number): string {
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy: no-referrer',
    'Vary: Origin',
    'Cache-Control: private, no-cache',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    `Content-Length: ${bytes}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n`;
}

function closeAfterResponses(socket: Socket): void {
  const response = responseInProgress(socket);
  if (response === undefined) socket.destroySoon();
  else response.once('finish', () => closeAfterResponses(socket));
}

/** The response that a connection is busy with, for a request that arrived as a whole. */
function responseInProgress(socket: Socket): ServerResponse | undefined {
  const message = messageOf(socket);
  return message?.req.complete ? message : undefined;
}

/** The response that a connection is busy with, as Node's handler of such errors reads it; null for none. */
export function messageOf({
  _httpMessage: message = null,
}: Socket & { readonly _httpMessage?: ServerResponse | null }) {
  return message;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
