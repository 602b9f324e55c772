/** One line of the log per request: by default only of those that failed, were limited, or took long. */
import type { IncomingMessage } from 'node:http';
import type { AccessLog } from '../environment/operate.ts';
import type { PrintLines } from './log.ts';
import { pathOf, type RequestObserver, routePattern, statusOf } from './request-record.ts';

interface AccessLogOptions {
  readonly accessLog: Exclude<AccessLog, 'off'>;
  /** Milliseconds from which a request is slow; 0: none is. */
  readonly slowMs: number;
  /** Has lines printed after a moment, or at once. */
  readonly gather: (print: PrintLines, isFull: boolean) => void;
  /** Client of a request as far as lines may name it; undefined where they may not. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
}

/** Facts of a request that those before it often share. */
interface SharedFacts {
  readonly method: string | undefined;
  readonly route: string | undefined;
  readonly collection: string | undefined;
  /** Absent where the client left before the answer. */
  readonly status: number | undefined;
  readonly accessClass: string | undefined;
  readonly user: string | undefined;
  readonly address: string | undefined;
}

/** Texts of a line: before the path, after it, and behind the numbers. */
interface SharedTexts {
  readonly before: string;
  readonly after: string;
  readonly end: string;
}

const noTexts: SharedTexts = { before: '', after: '', end: '' };

/** Makes the observer that writes the lines. */
export function createAccessLog({ accessLog, slowMs, gather, addressOf }: AccessLogOptions): RequestObserver {
  const share = accessLog === 'errors' ? 0 : accessLog;
  const leastSlow = slowMs === 0 ? Number.POSITIVE_INFINITY : slowMs;
  const lines = new WaitingLines();
  return function logRequest(record, response, ms) {
    const status = statusOf(record, response);
    const isLogged = ms >= leastSlow || (status !== undefined && (status >= 500 || status === 429));
    if (!isLogged && (share === 0 || (share < 1 && Math.random() >= share))) return;
    const { req: request } = response;
    const { id, traceId, call, databaseMs } = record;
    // A body that HEAD leaves out was made all the same.
    const bytes = request.method === 'HEAD' ? 0 : record.bytes;
    const texts = textsOf({
      method: request.method || undefined,
      route: routePattern(record, request),
      collection: call?.item?.collection,
      status,
      accessClass: call?.caller.accessClass,
      user: call?.caller.user ?? undefined,
      address: addressOf(request),
    });
    const ids = traceId === undefined ? id : `${id}","traceId":"${traceId}`;
    const count = lines.add(ids, request.url ?? '', texts, ms, databaseMs, bytes);
    if (count === 1 || count === maxLines) gather(lines.print, count === maxLines);
  };
}

/** Lines that wait at most. */
const maxLines = 256;

/** Facts of lines that are printed together: their code and its data are at hand then, which halves the cost. */
class WaitingLines {
  readonly #ids = Array.from({ length: maxLines }, () => '');
  readonly #urls = Array.from({ length: maxLines }, () => '');
  readonly #texts = Array.from({ length: maxLines }, () => noTexts);
  readonly #times = new Float64Array(maxLines);
  readonly #ms = new Float64Array(maxLines);
  readonly #databaseMs = new Float64Array(maxLines);
  readonly #bytes = new Float64Array(maxLines);
  #count = 0;

  /** Takes a line, and gives how many wait. */
  add(ids: string, url: string, texts: SharedTexts, ms: number, databaseMs: number, bytes: number): number {
    const index = this.#count++;
    this.#ids[index] = ids;
    this.#urls[index] = url;
    this.#texts[index] = texts;
    this.#times[index] = Date.now();
    this.#ms[index] = ms;
    this.#databaseMs[index] = databaseMs;
    this.#bytes[index] = bytes;
    return this.#count;
  }

  /** Prints them by hand and of few parts. Ids are letters, digits and a few signs. */
  readonly print: PrintLines = (add) => {
    const count = this.#count;
    this.#count = 0;
    for (let index = 0; index < count; index++) {
      const { before, after, end } = this.#texts[index] ?? noTexts;
      const path = escaped(pathOf(this.#urls[index] ?? ''));
      const times = `${printMs(this.#ms[index] ?? 0)}${printDatabaseMs(this.#databaseMs[index] ?? 0)}`;
      const start = lineStart(this.#times[index] ?? 0);
      add(`${start}${this.#ids[index]}${before}${path}${after}${times}${this.#bytes[index]}${end}`);
    }
  };
}

let startedAt = 0;
let startText = '';

/** Everything in front of the identifier; printing the time costs more than all else of it. */
function lineStart(time: number): string {
  if (time !== startedAt) startText = `{"level":30,"time":${time},"requestId":"`;
  startedAt = time;
  return startText;
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
    const text = `,"${name}":"${escaped(value)}"`;
    if (value.length > maxLetters) return text;
    if (texts.size >= maxRemembered) texts.clear();
    texts.set(value, text);
    return text;
  };
}

let lastFacts: SharedFacts | undefined;
let lastTexts = noTexts;

/** Texts of the facts of a request, which are put together once for requests in a row that share them. */
function textsOf(facts: SharedFacts): SharedTexts {
  if (lastFacts !== undefined && isSame(facts, lastFacts)) return lastTexts;
  const { method, route, collection, status, accessClass, user, address } = facts;
  const answered = status === undefined ? '' : `,"status":${status}`;
  lastFacts = facts;
  lastTexts = {
    before: `"${printMethod(method)},"path":"`,
    after: `"${printRoute(route)}${printCollection(collection)}${answered},"ms":`,
    end: `${printClass(accessClass)}${printUser(user)}${printAddress(address)},"msg":"A request was answered."}\n`,
  };
  return lastTexts;
}

function isSame(facts: SharedFacts, others: SharedFacts): boolean {
  return (
    facts.status === others.status &&
    facts.collection === others.collection &&
    facts.route === others.route &&
    facts.method === others.method &&
    facts.user === others.user &&
    facts.address === others.address &&
    facts.accessClass === others.accessClass
  );
}

const printMethod = createMember('method');
const printRoute = createMember('route');
const printCollection = createMember('collection');
const printClass = createMember('class');
const printUser = createMember('user');
const printAddress = createMember('address');

/** Texts that are the same in JSON. */
const plain = /^[\w /.:,~-]*$/;

function escaped(value: string): string {
  return plain.test(value) ? value : JSON.stringify(value).slice(1, -1);
}

/** Tenths of which texts are remembered. */
const maxTenths = 1_000;

/** Makes the printer of milliseconds with one digit after the point, with the name of the next member. */
function createMs(next: string): (ms: number) => string {
  const texts: string[] = [];
  return function printTenths(ms) {
    const count = Math.max(0, Math.round(ms * 10));
    const remembered = texts[count];
    if (remembered !== undefined) return remembered;
    const text = `${count / 10},"${next}":`;
    if (count < maxTenths) texts[count] = text;
    return text;
  };
}

const printMs = createMs('dbMs');
const printDatabaseMs = createMs('bytes');
