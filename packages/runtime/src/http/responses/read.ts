/** Runs planned reads and answers them: whole with a length, or streamed with back-pressure. */

import type { Writable } from 'node:stream';
import type { Database, Statement } from '../../database/database.ts';
import { isInterrupted, refusesValue } from '../../database/errors.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import { entityTag, matchesTag } from '../../entity-tag.ts';
import { ClientGoneError, PlatformError } from '../../errors.ts';
import { createExportWriter } from '../../export/writer.ts';
import { giveBack } from '../../json/byte-writer.ts';
import { derivedOnce } from '../../language/values/once.ts';
import { type AnswerWriter, createAnswerWriter, type Answer as Rows, withNamed } from '../../query/answer.ts';
import { unusableCursor } from '../../query/parse/cursor.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { PlannedRead } from '../../query/planner.ts';
import { type Content, type HttpContext, mediaTypes, type Responder, type StreamingResponder } from './answer.ts';
import { breakOff, chooseEncoding, createCompressor, type Outgoing } from './outgoing.ts';
import type { KeptAnswer, PublicAnswers } from './public-answers.ts';

interface ReaderOptions {
  readonly database: Database;
  readonly driftGuard: DriftGuard;
  readonly responder: StreamingResponder;
  /** Tells which answers shared caches may keep. Default: none. */
  readonly publicAnswers?: PublicAnswers | null;
}

/** Answers planned reads. Rejects with errors before the first byte; later it destroys the connection. */
export type Reader = ReturnType<typeof createReader>;

export function createReader(options: ReaderOptions) {
  const { responder } = options;
  const reads = new ServerReads(options);
  return {
    async list(httpContext: HttpContext, planned: PlannedRead): Promise<void> {
      try {
        await reads.list(httpContext, planned);
      } catch (error) {
        // The database reads back a value that it once wrote into a cursor, so it refuses only forged ones.
        throw planned.size !== undefined && refusesValue(error) ? unusableCursor() : error;
      }
    },
    /** Answers FORBIDDEN when there is no row, so that missing and hidden items look the same. */
    async item(httpContext: HttpContext, planned: PlannedRead): Promise<void> {
      await reads.one(httpContext, planned, true);
    },
    /** Runs it for its effect alone, and answers 204. */
    async nothing(httpContext: HttpContext, planned: PlannedRead): Promise<void> {
      await reads.whole(httpContext, planned, reads.startRows(planned));
      responder.send(httpContext, { status: 204 });
    },
    /** Answers the one row that there always is: before the first write it holds the defaults. */
    async singleton(httpContext: HttpContext, planned: PlannedRead): Promise<void> {
      await reads.one(httpContext, planned, false);
    },
  };
}

class ServerReads {
  readonly #options: ReaderOptions;
  readonly #writerOf = derivedOnce(createWriter);

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  startRows({ plan, size }: PlannedRead): Rows {
    this.#options.driftGuard(plan.statement);
    return this.#writerOf(plan)(size);
  }

  begin({ request }: HttpContext, planned: PlannedRead): KeptAnswer | null {
    const { publicAnswers = null } = this.#options;
    return publicAnswers === null ? null : publicAnswers.begin(request, planned);
  }

  /** A list whose connection is lost amid its rows is read once more, unless some have left. Before the first row, others see to that. */
  async list(httpContext: HttpContext, planned: PlannedRead, mayRepeat = true): Promise<void> {
    const { plan } = planned;
    const kept = this.begin(httpContext, planned);
    const rows = this.startRows(planned);
    try {
      // Items named by key are counted before the first byte leaves, however many they are.
      if (isLarge(planned) && planned.rows === undefined) {
        return await streamRows(this.#options, httpContext, planned, rows, kept);
      }
      await this.whole(httpContext, planned, rows, kept);
    } catch (error) {
      if (!mayRepeat || rows.items === 0 || httpContext.response.headersSent || !isInterrupted(error)) throw error;
      return this.list(httpContext, planned, false);
    }
    const found = rows.found ?? rows.items;
    if (planned.rows !== undefined && found < planned.rows) throw new PlatformError('FORBIDDEN');
    this.#options.responder.send(httpContext, { status: 200, ...announce(plan, kept), body: rows.end() });
  }

  /** Answers one row; `mayLack`: there may be none, which is FORBIDDEN. */
  async one(httpContext: HttpContext, planned: PlannedRead, mayLack: boolean): Promise<void> {
    const kept = this.begin(httpContext, planned);
    const rows = this.startRows(planned);
    await this.whole(httpContext, planned, rows, kept);
    if (mayLack && rows.items === 0) throw new PlatformError('FORBIDDEN');
    sendTagged(this.#options.responder, httpContext, rows.end(), kept);
  }

  /** A possibly large answer takes its turn among streams, even if it is sent as a whole. */
  whole(httpContext: HttpContext, planned: PlannedRead, rows: Rows, kept: KeptAnswer | null = null): Promise<void> {
    const { database, responder } = this.#options;
    const { parameters } = planned;
    if (isLarge(planned)) return readLarge(this.#options, httpContext, planned, rows, kept, async () => {});
    const statement = statementFor(responder, httpContext, planned, kept);
    return database.read(statement, parameters, rows, responder.clientOf(httpContext.request));
  }
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
function sendTagged(responder: Responder, httpContext: HttpContext, body: Buffer, kept: KeptAnswer | null): void {
  const tag = entityTag(body);
  const { method, headers } = httpContext.request;
  const sentTags = headers['if-none-match'];
  // A write may be answered with what it has read.
  const unchanged = sentTags !== undefined && method !== 'PATCH' && matchesTag(sentTags, tag);
  const shared = kept?.headers();
  const tagged = { ...shared, headers: ['ETag', tag, ...(shared?.headers ?? [])] };
  if (unchanged) {
    responder.send(httpContext, { status: 304, ...tagged });
    giveBack(body);
  } else responder.send(httpContext, { status: 200, type: mediaTypes.json, body, ...tagged });
}

function announce(plan: ReadPlan, kept: KeptAnswer | null): Content {
  const content = contentOf(plan);
  if (kept === null) return content;
  const { headers = [], ...shared } = kept.headers();
  return { ...content, ...shared, headers: [...(content.headers ?? []), ...headers] };
}

/** Caches are filled from the server that takes writes: a replica could fill in what was just purged. */
function statementFor(
  responder: StreamingResponder,
  { request }: HttpContext,
  { statement }: PlannedRead,
  kept: KeptAnswer | null,
): Statement {
  return kept === null ? responder.late(request, statement) : statement;
}

/** Reads as a stream, which ends when its client leaves. */
async function readLarge(
  options: ReaderOptions,
  httpContext: HttpContext,
  planned: PlannedRead,
  rows: Rows,
  kept: KeptAnswer | null,
  drained: (leave: () => void) => Promise<void>,
): Promise<void> {
  const { database, responder } = options;
  const { request, response } = httpContext;
  const unsent = responder.unsentOf(request);
  await unsent.room();
  const gone = new AbortController();
  const leave = (): void => gone.abort(response.destroyed ? new ClientGoneError() : undefined);
  if (response.destroyed) leave();
  response.once('close', leave);
  try {
    const statement = statementFor(responder, httpContext, planned, kept);
    await database.stream(statement, planned.parameters, rows, () => drained(leave), gone.signal, unsent.client);
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
  kept: KeptAnswer | null,
): Promise<void> {
  const { responder } = options;
  const { request, response } = httpContext;
  const { plan } = planned;
  let body: Outgoing | null = null;

  async function drained(leave: () => void): Promise<void> {
    body ??= responder.outgoing(httpContext, openStream(responder, httpContext, announce(plan, kept)));
    if (request.method === 'HEAD') {
      body.end(Buffer.alloc(0));
      leave();
      return;
    }
    await body.push(rows.read());
  }

  try {
    await readLarge(options, httpContext, planned, rows, kept, drained);
    sendRest(rows.end());
  } catch (error) {
    if (response.destroyed || response.writableEnded) return;
    if (!response.headersSent) throw error;
    // The statement was ended because only the head is requested; the compressor of an empty body may still end it.
    if (request.method === 'HEAD') return;
    // Too late for an error of our own: a body that breaks off is the only honest sign.
    breakOff(response);
    throw error;
  }

  function sendRest(rest: Buffer): void {
    if (body === null) responder.send(httpContext, { status: 200, ...announce(plan, kept), body: rest });
    else body.end(rest);
  }
}

function openStream(responder: Responder, { request, response }: HttpContext, content: Content): Writable {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  response.writeHead(200, responder.streamHeaders(request, encoding, content));
  if (encoding === null) return response;
  const compressor = createCompressor(encoding);
  compressor.on('error', () => breakOff(response));
  response.once('close', () => compressor.destroy());
  compressor.pipe(response);
  return compressor;
}

const json: Content = { type: mediaTypes.json };

function contentOf({ exported }: ReadPlan): Content {
  if (exported === undefined) return json;
  return {
    type: mediaTypes[exported.format],
    headers: ['Content-Disposition', disposition('attachment', `${exported.name}.${exported.format}`)],
  };
}

/** The plain name for every client, with `_` for odd characters, and the whole one as RFC 8187 has it. */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  const file = name.toWellFormed();
  const plain = file.replace(/[^\w .()+-]/g, '_');
  const whole = plain === file ? '' : `; filename*=UTF-8''${encode(file)}`;
  return `${kind}; filename="${plain}"${whole}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}
