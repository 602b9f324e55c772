/**
 * A small load driver for machines without wrk, run as a process of its own:
 * `node drive.ts URL PATHS_FILE CONNECTIONS SECONDS [HEADER]`. Prints a `Load` as one line of JSON.
 *
 * It speaks HTTP/1.1 on bare sockets and looks at no more than the head of an answer and its end, because a full client costs
 * more than the servers it is meant to measure.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Load } from './load.ts';
import { percentile } from './statistics.ts';
import { uniqueText } from './write-scenarios.ts';

const [url = '', pathsFile = '', connections = '', seconds = '', header = ''] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);
const paths = readFileSync(pathsFile, 'utf8').trim().split('\n');
const heads = paths.map(requestOf);
/** The end of an answer in chunks. */
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
/** What tells this run from others over the same database. */
const run = Date.now().toString(36);
const latencies: number[] = [];
let errors = 0;
let next = Math.floor(Math.random() * heads.length);
const start = performance.now();
const end = start + Number(seconds) * 1000;

await Promise.all(Array.from({ length: Number(connections) }, askInTurn));
const load: Load = {
  requests: latencies.length,
  errors,
  seconds: (performance.now() - start) / 1000,
  p50: percentile(latencies, 50),
  p99: percentile(latencies, 99),
};
process.stdout.write(`${JSON.stringify(load)}\n`);

/** A path is read; a line such as `POST /items/tags {"name":"a"}` is sent with its body. */
function requestOf(line: string): string {
  const [method = '', path = '', ...rest] = line.startsWith('/') ? ['GET', line] : line.split(' ');
  const body = rest.join(' ');
  const sent = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  const more = header === '' ? '' : `${header}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}${sent}\r\n${body}`;
}

/** Puts a text that no other request has where the line has its placeholder, which is as long. */
function uniquely(request: string): string {
  if (!request.includes(uniqueText)) return request;
  const number = String(next).padStart(uniqueText.length - run.length, '0');
  return request.replace(uniqueText, run + number);
}

/** One connection: a request, its whole answer, the next request. */
function askInTurn(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let asked = 0;
    let received: Buffer[] = [];
    let missing = 0;
    /** The last bytes of an answer in chunks; undefined while no such answer is under way. */
    let tail: Buffer | undefined;

    function ask(): void {
      asked = performance.now();
      if (asked >= end) socket.end();
      else socket.write(uniquely(heads[next++ % heads.length] ?? ''));
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
        if (!answer.ok) errors++;
        ({ missing, tail } = answer);
      }
      if (tail === undefined ? missing > 0 : !tail.equals(lastChunk)) return;
      tail = undefined;
      answered();
    });
    socket.once('error', () => {
      errors++;
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
