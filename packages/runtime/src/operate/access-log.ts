/** One line of the log per request: by default only of those that failed, were limited, or took long. */
import type { IncomingMessage } from 'node:http';
import type { AccessLog } from '../environment/operate.ts';
import { pathOf, type RequestObserver, routePattern, statusOf } from './request-record.ts';

interface AccessLogOptions {
  readonly accessLog: Exclude<AccessLog, 'off'>;
  /** Milliseconds from which a request is slow; 0: none is. */
  readonly slowMs: number;
  /** Takes a line with its end. */
  readonly write: (line: string) => void;
  /** Client of a request as far as lines may name it; undefined where they may not. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
}

/** Makes the observer that writes the lines. */
export function createAccessLog({ accessLog, slowMs, write, addressOf }: AccessLogOptions): RequestObserver {
  const share = accessLog === 'errors' ? 0 : accessLog;
  const leastSlow = slowMs === 0 ? Number.POSITIVE_INFINITY : slowMs;
  return function logRequest(record, response, ms) {
    const status = statusOf(record, response);
    const isLogged = ms >= leastSlow || (status !== undefined && (status >= 500 || status === 429));
    if (!isLogged && (share === 0 || (share < 1 && Math.random() >= share))) return;
    const { req: request } = response;
    const { id, traceId, call, databaseMs } = record;
    // A body that HEAD leaves out was made all the same.
    const bytes = request.method === 'HEAD' ? 0 : record.bytes;
    // Printed by hand, because every request may have a line. Ids are letters, digits and a few signs.
    write(
      `{"level":30,"time":${Date.now()},"requestId":"${id}"${traceId === undefined ? '' : `,"traceId":"${traceId}"`}` +
        `${printMethod(request.method || undefined)},"path":${quote(pathOf(request.url ?? ''))}` +
        printRoute(routePattern(record, request)) +
        printCollection(call?.item?.collection) +
        // Absent where the client left before the answer.
        (status === undefined ? '' : `,"status":${status}`) +
        `,"ms":${tenths(ms)},"dbMs":${tenths(databaseMs)},"bytes":${bytes}` +
        printClass(call?.caller.accessClass) +
        printUser(call?.caller.user ?? undefined) +
        `${printAddress(addressOf(request))},"msg":"A request was answered."}\n`,
    );
  };
}

/** Values of a member that are remembered. */
const maxRemembered = 500;
const maxLetters = 100;

/** Makes the printer of a member whose values are often the same: they are quoted once. */
function createMember(name: string): (value: string | undefined) => string {
  const texts = new Map<string, string>();
  return function printMember(value) {
    if (value === undefined) return '';
    const remembered = texts.get(value);
    if (remembered !== undefined) return remembered;
    const text = `,"${name}":${quote(value)}`;
    if (value.length > maxLetters) return text;
    if (texts.size >= maxRemembered) texts.clear();
    texts.set(value, text);
    return text;
  };
}

const printMethod = createMember('method');
const printRoute = createMember('route');
const printCollection = createMember('collection');
const printClass = createMember('class');
const printUser = createMember('user');
const printAddress = createMember('address');

/** Texts that are the same in JSON. */
const plain = /^[\w /.:,~-]*$/;

function quote(value: string): string {
  return plain.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** Milliseconds with one digit after the point, which is quicker than printing a fraction. */
function tenths(ms: number): string {
  const count = Math.max(0, Math.round(ms * 10));
  const rest = count % 10;
  return rest === 0 ? `${count / 10}` : `${(count - rest) / 10}.${rest}`;
}
