/**
 * A small load driver for machines without wrk, run as a process of its own:
 * `node drive.ts URL PATHS_FILE CONNECTIONS SECONDS [HEADER]`. Prints a `Load` as one line of JSON.
 *
 * It speaks HTTP/1.1 on bare sockets and looks at no more than the head of an answer and its end, because a full client costs
 * more than the servers it is meant to measure.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Load } from './load.ts';
import { percentile } from './statistics.ts';
import { uniqueText } from './write-scenarios.ts';

/** A load, as the command line describes it. */
export interface DriveOptions {
  readonly url: string;
  /** Paths, and other requests: see `requestOf`. */
  readonly lines: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** A line of the head of every request, without its end. */
  readonly header?: string;
}

/** The end of an answer in chunks. */
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
/** What tells this run from others over the same database. */
const run = Date.now().toString(36);

if (import.meta.main) {
  const [url = '', pathsFile = '', connections = '', seconds = '', header = ''] = process.argv.slice(2);
  const lines = readFileSync(pathsFile, 'utf8').trim().split('\n');
  const load = await drive({ url, lines, connections: Number(connections), seconds: Number(seconds), header });
  process.stdout.write(`${JSON.stringify(load)}\n`);
}

/** Asks for the lines in turn until the time is over; every connection always has one request under way. */
export async function drive({ url, lines, connections, seconds, header = '' }: DriveOptions): Promise<Load> {
  const { hostname, port, host } = new URL(url);
  const heads = lines.map((line) => requestOf(line, host, header));
  const start = performance.now();
  const end = start + seconds * 1000;
  const asking: Asking = { latencies: [], errors: 0, next: Math.floor(Math.random() * heads.length), heads, end };
  const askOn = (_: unknown, client: number) =>
    askInTurn(connect({ host: hostname, port: Number(port), ...clientAddress(hostname, client) }), asking);
  await Promise.all(Array.from({ length: connections }, askOn));
  const { latencies, errors } = asking;
  return {
    requests: latencies.length,
    errors,
    seconds: (performance.now() - start) / 1000,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

/**
 * Gives each connection an address of its own, as users have: the server bounds the slow statements of one address. Only
 * Linux has all of 127.0.0.0/8, and up to 250 are given; elsewhere all come from one.
 */
function clientAddress(hostname: string, client: number): { readonly localAddress?: string } {
  const many = process.platform === 'linux' && hostname === '127.0.0.1';
  return many ? { localAddress: `127.0.0.${2 + (client % 250)}` } : {};
}

/** A load under way. */
interface Asking {
  readonly latencies: number[];
  errors: number;
  next: number;
  readonly heads: readonly string[];
  /** When no more requests are sent. */
  readonly end: number;
}

/** A path is read; a line such as `POST /items/tags {"name":"a"}` is sent with its body. */
function requestOf(line: string, host: string, header: string): string {
  const [method = '', path = '', ...rest] = line.startsWith('/') ? ['GET', line] : line.split(' ');
  const body = rest.join(' ');
  const sent = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  const more = header === '' ? '' : `${header}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}${sent}\r\n${body}`;
}

/** Puts a text that no other request has where the line has its placeholder, which is as long. */
function uniquely(request: string, next: number): string {
  if (!request.includes(uniqueText)) return request;
  const number = String(next).padStart(uniqueText.length - run.length, '0');
  return request.replace(uniqueText, run + number);
}

/** One connection: a request, its whole answer, the next request. */
function askInTurn(socket: Socket, asking: Asking): Promise<void> {
  const { latencies, heads, end } = asking;
  return new Promise((resolve) => {
    let asked = 0;
    let received: Buffer[] = [];
    let missing = 0;
    /** The last bytes of an answer in chunks; undefined while no such answer is under way. */
    let tail: Buffer | undefined;

    function ask(): void {
      asked = performance.now();
      if (asked >= end) socket.end();
      else socket.write(uniquely(heads[asking.next++ % heads.length] ?? '', asking.next));
    }

    function answered(): void {
      latencies.push(performance.now() - asked);
      received = [];
      ask();
    }

    socket.setNoDelay(true);
    socket.once('connect', ask);
    socket.on('data', (chunk: Buffer) => {
      if (tail !== undefined)
        tail = Buffer.concat([tail, chunk.subarray(-lastChunk.length)]).subarray(-lastChunk.length);
      else if (missing > 0) missing -= chunk.length;
      else {
        received.push(chunk);
        const answer = measureAnswer(received);
        if (answer === undefined) return;
        if (!answer.ok) asking.errors++;
        ({ missing, tail } = answer);
      }
      if (tail === undefined ? missing > 0 : !tail.equals(lastChunk)) return;
      tail = undefined;
      answered();
    });
    socket.once('error', () => {
      asking.errors++;
    });
    socket.once('close', () => resolve());
  });
}

interface Begun {
  readonly ok: boolean;
  /** Bytes that are still to come, of an answer with a length. */
  readonly missing: number;
  /** The last bytes so far, of an answer in chunks. */
  readonly tail: Buffer | undefined;
}

/** How an answer begins; undefined until its head is there. */
function measureAnswer(chunks: readonly Buffer[]): Begun | undefined {
  const bytes = Buffer.concat(chunks);
  const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
  if (bodyAt < 4) return undefined;
  const head = bytes.toString('latin1', 0, bodyAt);
  const ok = head.startsWith('HTTP/1.1 2');
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return { ok, missing: 0, tail: bytes.subarray(-lastChunk.length) };
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return { ok, missing: bodyAt + length - bytes.length, tail: undefined };
}
