/** Runs planned reads and answers them: whole with a length, or streamed with back-pressure. */

import type { Writable } from 'node:stream';
import type { Database } from '../../database/database.ts';
import type { DriftGuard } from '../../database/drift-guard.ts';
import { refusesValue } from '../../database/errors.ts';
import { entityTag, matchesTag } from '../../entity-tag.ts';
import { PlatformError } from '../../errors.ts';
import { createExportWriter } from '../../export/writer.ts';
import { giveBack } from '../../json/byte-writer.ts';
import { type AnswerWriter, createAnswerWriter, type Answer as Rows } from '../../query/answer.ts';
import { withNamed } from '../../query/named.ts';
import { unusableCursor } from '../../query/parse/cursor.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { PlannedRead } from '../../query/planner.ts';
import { type HttpContext, mediaTypes, type Responder, type StreamingResponder } from './answer.ts';
import { contentOf } from './attachment.ts';
import { chooseEncoding, createCompressor } from './compression.ts';
import type { Outgoing } from './outgoing.ts';

/** Options for running reads. */
export interface ReaderOptions {
  readonly database: Database;
  readonly driftGuard: DriftGuard;
  readonly responder: StreamingResponder;
}

/** Answers planned reads. Rejects with errors before the first byte; later it destroys the connection. */
export interface Reader {
  list(httpContext: HttpContext, planned: PlannedRead): Promise<void>;
  /** Answers FORBIDDEN when there is no row, so that missing and hidden items look the same. */
  item(httpContext: HttpContext, planned: PlannedRead): Promise<void>;
  /** Runs it for its effect alone, and answers 204. */
  nothing(httpContext: HttpContext, planned: PlannedRead): Promise<void>;
  /** Answers the one row that there always is: before the first write it holds the defaults. */
  singleton(httpContext: HttpContext, planned: PlannedRead): Promise<void>;
}

/** Makes the reader of a server. */
export function createReader(options: ReaderOptions): Reader {
  const { database, driftGuard, responder } = options;
  const writers = new WeakMap<ReadPlan, AnswerWriter>();

  function startRows({ plan, size }: PlannedRead): Rows {
    driftGuard(plan.statement);
    const cached = writers.get(plan) ?? createWriter(plan);
    writers.set(plan, cached);
    return cached(size);
  }

  async function readList(httpContext: HttpContext, planned: PlannedRead): Promise<void> {
    const { plan } = planned;
    const rows = startRows(planned);
    // Items named by key are counted before the first byte leaves, however many they are.
    if (isLarge(planned) && planned.rows === undefined) return streamRows(options, httpContext, planned, rows);
    await readWhole(httpContext, planned, rows);
    const found = rows.found ?? rows.items;
    if (planned.rows !== undefined && found < planned.rows) throw new PlatformError('FORBIDDEN');
    responder.send(httpContext, { status: 200, ...contentOf(plan), body: rows.end() });
  }

  /** A possibly large answer takes its turn among streams, even if it is sent as a whole. */
  function readWhole(httpContext: HttpContext, planned: PlannedRead, rows: Rows): Promise<void> {
    const { parameters } = planned;
    if (isLarge(planned)) return readLarge(options, httpContext, planned, rows, async () => {});
    const statement = responder.late(httpContext.request, planned.statement);
    return database.read(statement, parameters, rows, () => responder.unsentOf(httpContext.request).client);
  }

  return {
    async list(httpContext, planned) {
      try {
        await readList(httpContext, planned);
      } catch (error) {
        // The database reads back a value that it once wrote into a cursor, so it refuses only forged ones.
        throw planned.size !== undefined && refusesValue(error) ? unusableCursor() : error;
      }
    },
    async item(httpContext, planned) {
      const rows = startRows(planned);
      await readWhole(httpContext, planned, rows);
      if (rows.items === 0) throw new PlatformError('FORBIDDEN');
      sendTagged(responder, httpContext, rows.end());
    },
    async nothing(httpContext, planned) {
      await readWhole(httpContext, planned, startRows(planned));
      responder.send(httpContext, { status: 204 });
    },
    async singleton(httpContext, planned) {
      const rows = startRows(planned);
      await readWhole(httpContext, planned, rows);
      sendTagged(responder, httpContext, rows.end());
    },
  };
}

/** True if a read may give many rows, in its list or in the lists of its items. */
function isLarge({ plan, large }: PlannedRead): boolean {
  return plan.streamed || large === true;
}

function createWriter(plan: ReadPlan): AnswerWriter {
  const writer =
    plan.exported === undefined ? createAnswerWriter(plan) : createExportWriter(plan, plan.exported.format);
  return plan.countsNamed === true ? withNamed(plan, writer) : writer;
}

/** Sends one item with its entity tag, or 304 when the client holds these bytes already (specification, section 17). */
function sendTagged(responder: Responder, httpContext: HttpContext, body: Buffer): void {
  const tag = entityTag(body);
  const sentTags = httpContext.request.headers['if-none-match'];
  const unchanged = sentTags !== undefined && matchesTag(sentTags, tag);
  const headers = ['ETag', tag];
  if (unchanged) {
    responder.send(httpContext, { status: 304, headers });
    giveBack(body);
  } else responder.send(httpContext, { status: 200, type: mediaTypes.json, body, headers });
}

/** Reads as a stream, which ends when its client leaves. */
async function readLarge(
  options: ReaderOptions,
  httpContext: HttpContext,
  { statement: planned, parameters }: PlannedRead,
  rows: Rows,
  drained: (leave: () => void) => Promise<void>,
): Promise<void> {
  const { database, responder } = options;
  const { request, response } = httpContext;
  const unsent = responder.unsentOf(request);
  await unsent.room();
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  if (response.destroyed) leave();
  response.once('close', leave);
  try {
    const statement = responder.late(request, planned);
    await database.stream(statement, parameters, rows, () => drained(leave), gone.signal, unsent.client);
  } finally {
    response.off('close', leave);
  }
}

/**
 * Sends rows while they are read. The head is held back until the first batch is there, so a statement that fails at
 * once still gets an error of its own. A client that leaves ends the statement, and so does one that does not read. As
 * far as there is room, rows are gathered, so that a slow client does not keep the connection to the database.
 */
async function streamRows(
  options: ReaderOptions,
  httpContext: HttpContext,
  planned: PlannedRead,
  rows: Rows,
): Promise<void> {
  const { responder } = options;
  const { request, response } = httpContext;
  const { plan } = planned;
  let body: Outgoing | null = null;

  async function drained(leave: () => void): Promise<void> {
    body ??= responder.outgoing(httpContext, openStream(responder, httpContext, plan));
    if (request.method === 'HEAD') {
      body.end(Buffer.alloc(0));
      leave();
      return;
    }
    await body.push(rows.read());
  }

  try {
    await readLarge(options, httpContext, planned, rows, drained);
    sendRest(rows.end());
  } catch (error) {
    if (response.destroyed || response.writableEnded) return;
    if (!response.headersSent) throw error;
    // The statement was ended because only the head is requested; the compressor of an empty body may still end it.
    if (request.method === 'HEAD') return;
    // Too late for an error of our own: a body that breaks off is the only honest sign.
    response.destroy();
    throw error;
  }

  function sendRest(rest: Buffer): void {
    if (body === null) responder.send(httpContext, { status: 200, ...contentOf(plan), body: rest });
    else body.end(rest);
  }
}

function openStream(responder: Responder, { request, response }: HttpContext, plan: ReadPlan): Writable {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  response.writeHead(200, responder.streamHeaders(request, encoding, contentOf(plan)));
  if (encoding === null) return response;
  const compressor = createCompressor(encoding);
  compressor.on('error', () => response.destroy());
  response.once('close', () => compressor.destroy());
  compressor.pipe(response);
  return compressor;
}
