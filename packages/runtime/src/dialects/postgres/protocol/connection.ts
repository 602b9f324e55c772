/**
 * One conversation with a PostgreSQL server that is connected and authenticated: requests are sent without waiting for
 * the answers to earlier ones. Each ends with its own Sync, so an error never touches its neighbours. Only brief reads
 * of one turn of the event loop share one; those that an error makes the server skip are sent again. The BEGIN of a
 * transaction shares the Sync of the statement after it.
 *
 * The carrier of the bytes (a socket, TLS, or PGlite in this process) is a `Link`.
 */
import { ConnectionError, isStalePreparation, RowContextError, ServerError } from '../../../database/errors.ts';
import { kinds, MessageReader, readErrorFields } from '../../../database/messages.ts';
import { PreparedNames } from '../../../database/prepared.ts';
import { type RowContext, rowContextOf } from '../../../database/row-context.ts';
import { ByteWriter } from '../../../json/byte-writer.ts';
import {
  writeBind,
  writeClosePortal,
  writeCloseStatement,
  writeExecute,
  writeFlush,
  writeParse,
  writeSync,
  writeTerminate,
} from './encode.ts';
import { type Channel, newSlot, type PendingQuery, type Request, type Slot, SlotQueue } from './request.ts';
import { writeSettings } from './settings.ts';

/** Carries bytes to the server. Its maker hands received bytes to `Connection.receive`. */
interface Link {
  /** Sends bytes, which stay unchanged. */
  write(bytes: Buffer): void;
  /** Closes without waiting for anything. */
  destroy(): void;
}

/** Requests that share a Sync at most: answers come at the latest every 8 KB, but an error concerns all. */
const maxJoined = 32;

/** Status in ReadyForQuery outside of transactions: `I`, for idle. */
const outside = 73;

export class Connection implements Channel {
  readonly #link: Link;
  readonly #closed: (error: unknown) => void;
  readonly #prepared: PreparedNames;
  readonly #reader = new MessageReader((kind, buffer, start, end) => this.#message(kind, buffer, start, end));
  readonly #out = new ByteWriter();
  readonly #slots = new SlotQueue();
  #flushing: NodeJS.Immediate | undefined;
  /** The last of the requests whose common Sync is not written yet, and how many they are. */
  #open: Slot | undefined;
  #joined = 0;
  /** Settings under which they run. */
  #context: RowContext | undefined;
  /** True when statements are not kept between requests: a pooler hands each request to another server. */
  #nameless = false;
  #over = false;
  #lastWords: ServerError | undefined;

  /** `closed` is called once, when the connection has ended for any reason; then every request is settled. */
  constructor(link: Link, preparedLimit: number, closed: (error: unknown) => void) {
    this.#link = link;
    this.#prepared = new PreparedNames(preparedLimit);
    this.#closed = closed;
  }

  /** Requests sent and not yet answered. */
  get inFlight(): number {
    return this.#slots.length;
  }

  /** True when a brief read would share the Sync of those before it. */
  get prepares(): boolean {
    return !this.#nameless;
  }

  get gathers(): boolean {
    return this.#open !== undefined && this.#joined < maxJoined;
  }

  /** The request being answered, as a mark to compare: while it stays the same, no answer was completed. */
  get head(): Slot | undefined {
    return this.#slots.head;
  }

  /** True when the last that was sent is the end of a transaction, and not answered yet. */
  get ends(): boolean {
    return this.#slots.last?.request.part === 'end';
  }

  /** True when the connection can take no more requests. */
  get isClosed(): boolean {
    return this.#over;
  }

  get preparedCount(): number {
    return this.#prepared.size;
  }

  planBlindly(blindly: boolean): void {
    const text = `SET plan_cache_mode = ${blindly ? 'force_generic_plan' : 'force_custom_plan'}`;
    // If it fails, the connection is gone, and the next request fails as well.
    this.send({ name: '', text, parameters: [] }, { row: () => {}, settled: () => {} });
  }

  send(request: Request, pendingQuery: PendingQuery): void {
    this.#send(newSlot(request, pendingQuery), false);
  }

  flush(): void {
    if (this.#flushing === undefined) return;
    clearImmediate(this.#flushing);
    this.#flush();
  }

  /** Runs a request as the only one on this connection and stops after `rows` rows; go on with `more` or `stop`. */
  open(request: Request, rows: number, pendingQuery: PendingQuery): void {
    this.#begin({ ...newSlot(request, pendingQuery), synced: false, batch: rows }, false);
  }

  /** Asks a suspended portal for the next rows. */
  more(rows: number): void {
    writeExecute(this.#out, rows);
    writeFlush(this.#out);
    this.#flushSoon();
  }

  /** Ends a suspended portal; its request is settled when the server has confirmed. */
  stop(): void {
    const slot = this.#slots.head;
    if (slot?.synced !== false) return;
    slot.synced = true;
    writeClosePortal(this.#out);
    writeSync(this.#out);
    this.#flushSoon();
  }

  /** Takes back requests after the one being answered, which have no rows yet; their answers are dropped. */
  withdraw(): readonly PendingQuery[] {
    const taken: PendingQuery[] = [];
    for (const slot of this.#slots.behind()) {
      if (slot.pendingQuery !== undefined) taken.push(slot.pendingQuery);
      slot.pendingQuery = undefined;
    }
    return taken;
  }

  /** Takes bytes from the server. */
  receive(chunk: Buffer): void {
    if (this.#over) return;
    try {
      this.#reader.feed(chunk);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the connection because of an error; requests under way are settled with it. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    clearImmediate(this.#flushing);
    this.#link.destroy();
    const cause = this.#lastWords ?? error;
    const failure = cause instanceof ServerError ? cause : new ConnectionError('The connection was lost.', { cause });
    const left = this.#slots.drain();
    // First, so that repeated requests are not sent here.
    this.#closed(failure);
    for (const slot of left) slot.pendingQuery?.settled(slot.error ?? failure);
  }

  /** Ends an idle connection politely. */
  end(): void {
    if (this.#over) return;
    writeTerminate(this.#out);
    this.#flush();
    this.fail(new ConnectionError('The connection was closed.'));
  }

  #send(slot: Slot, fresh: boolean): void {
    if (this.#over) {
      slot.pendingQuery?.settled(new ConnectionError('The connection was closed.'));
      return;
    }
    const { name, text, parameters, format, brief, part } = slot.request;
    const used = this.#nameless ? '' : name;
    const isPrepared = used !== '' && !fresh && this.#prepared.use(used);
    const joins = isPrepared && brief === true;
    const context = part === undefined ? rowContextOf(slot.request) : undefined;
    if (!joins || this.#joined === maxJoined || context?.key !== this.#context?.key) this.#closeGroup();
    if (context !== undefined && this.#open === undefined) this.#apply(slot, context, fresh);
    if (!isPrepared) this.#prepare(slot, used, text, fresh);
    writeBind(this.#out, used, parameters, format);
    writeExecute(this.#out);
    if (joins) this.#join(slot, context);
    else if (part === 'begin') slot.joined = true;
    else writeSync(this.#out);
    this.#slots.push(slot);
    this.#flushSoon();
  }

  #begin(slot: Slot, fresh: boolean): void {
    const { name, text, parameters, format, byValues } = slot.request;
    const used = this.#nameless || byValues === true ? '' : name;
    this.#closeGroup();
    const context = rowContextOf(slot.request);
    if (context !== undefined) this.#apply(slot, context, fresh);
    if (used === '' || fresh || !this.#prepared.use(used)) this.#prepare(slot, used, text, fresh);
    writeBind(this.#out, used, parameters, format);
    this.#slots.push(slot);
    this.more(slot.batch);
  }

  /** Applies settings of a caller before the same Sync, up to which everything is one transaction: nothing stays after it. */
  #apply(slot: Slot, context: RowContext, fresh: boolean): void {
    const { name, text } = context.apply;
    const used = this.#nameless ? '' : name;
    slot.setting = { parses: undefined };
    if (used === '' || fresh || !this.#prepared.use(used)) this.#prepare(slot.setting, used, text, fresh);
    writeSettings(this.#out, context, used);
  }

  #prepare(slot: Pick<Slot, 'parses'>, name: string, text: string, fresh: boolean): void {
    slot.parses = name;
    if (name !== '') {
      if (fresh) writeCloseStatement(this.#out, name);
      for (const evicted of this.#prepared.add(name, text.length)) writeCloseStatement(this.#out, evicted);
    }
    writeParse(this.#out, name, text);
  }

  #join(slot: Slot, context: RowContext | undefined): void {
    if (this.#open !== undefined) this.#open.joined = true;
    this.#open = slot;
    this.#context = context;
    this.#joined++;
  }

  #closeGroup(): void {
    if (this.#open === undefined) return;
    this.#open = undefined;
    this.#context = undefined;
    this.#joined = 0;
    writeSync(this.#out);
  }

  /** One write per turn of the event loop, however many requests it brings. */
  #flushSoon(): void {
    this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = undefined;
    this.#closeGroup();
    if (!this.#over && this.#out.length > 0) this.#link.write(this.#out.takeBytes());
  }

  #message(kind: number, buffer: Buffer, start: number, end: number): void {
    const slot = this.#slots.head;
    if (kind === kinds.dataRow) this.#row(slot, buffer, start, end);
    else if (kind === kinds.ready) this.#ready(slot, buffer[start]);
    else if (kind === kinds.error) this.#error(slot, new ServerError(readErrorFields(buffer, start, end)));
    else if (kind === kinds.parseComplete) this.#prepared.confirm((slot?.setting ?? slot)?.parses ?? '');
    else if (kind === kinds.portalSuspended) this.#suspended(slot);
    else if (kind === kinds.commandComplete) this.#complete(slot);
    else if (kind === kinds.copyIn || kind === kinds.copyBoth) throw new Error('COPY is not for this connection.');
    // Everything else — notices, parameter status, notifications, completions — changes nothing here.
  }

  #row(slot: Slot | undefined, buffer: Buffer, start: number, end: number): void {
    if (slot?.pendingQuery === undefined || slot.error !== undefined || slot.setting !== undefined) return;
    slot.rows++;
    try {
      slot.pendingQuery.row(buffer, start + 2, end - start - 2);
    } catch (error) {
      slot.error = error;
    }
  }

  #error(slot: Slot | undefined, error: ServerError): void {
    if (error.fatal) this.#lastWords = error;
    if (slot === undefined) return;
    slot.error ??= error;
    // Named statements outlive errors, except that of their own Parse.
    for (const name of [slot.setting?.parses, slot.parses]) {
      if (name !== undefined && !this.#prepared.isConfirmed(name)) this.#prepared.delete(name);
    }
    this.#sync(slot);
  }

  /** Ends a request that runs in batches, once nothing more will be asked of it. */
  #sync(slot: Slot | undefined): void {
    if (slot?.synced !== false) return;
    slot.synced = true;
    writeSync(this.#out);
    this.#flushSoon();
  }

  #suspended(slot: Slot | undefined): void {
    if (slot?.error !== undefined || slot?.pendingQuery === undefined) this.stop();
    else slot.pendingQuery.suspended?.();
  }

  /** The answer is complete; only with a Sync of its own is there more to come. */
  #complete(slot: Slot | undefined): void {
    if (slot?.setting !== undefined) slot.setting = undefined;
    else if (slot?.joined === true) this.#settle(slot);
    else this.#sync(slot);
  }

  #ready(slot: Slot | undefined, status: number | undefined): void {
    if (slot === undefined) return;
    if (slot.request.part === 'end' && status !== outside) {
      // The next request would write into a transaction that is not its own.
      this.fail(new ConnectionError('A transaction did not end.'));
      return;
    }
    this.#settle(slot);
    if (slot.joined) this.#sendPassedOver(slot.error);
  }

  /** Sends those again which the server passed over because of an error in front of them, now each with its own Sync. */
  #sendPassedOver(error: unknown): void {
    for (let joined = true; joined && !this.#over; ) {
      const slot = this.#slots.head;
      if (slot === undefined) return;
      this.#slots.shift();
      joined = slot.joined;
      const { request, pendingQuery } = slot;
      if (request.part !== undefined) pendingQuery?.settled(error);
      else if (pendingQuery !== undefined) this.#send(newSlot({ ...request, brief: false }, pendingQuery), false);
    }
  }

  #settle(slot: Slot): void {
    this.#slots.shift();
    if (slot.error !== undefined && this.#retry(slot)) return;
    const { error, setting } = slot;
    const isSetting = setting !== undefined && error instanceof ServerError && !error.fatal;
    slot.pendingQuery?.settled(isSetting ? new RowContextError(error) : error);
  }

  /** Sends a request again whose statement the server has lost, replaced or never kept. */
  #retry(slot: Slot): boolean {
    const { error, request, pendingQuery, setting } = slot;
    if (slot.retried || slot.rows > 0 || pendingQuery === undefined) return false;
    const name = setting === undefined ? request.name : (rowContextOf(request)?.apply.name ?? '');
    if (!isStalePreparation(error) || name === '') return false;
    const { parses } = setting ?? slot;
    const lost = error.sqlstate === '26000' && parses === undefined && this.#prepared.isConfirmed(name);
    if (lost || error.sqlstate === '42P05') this.#nameless = true;
    if (request.part !== undefined) {
      // A repeated transaction finds it prepared anew.
      this.#prepared.delete(request.name);
      writeCloseStatement(this.#out, request.name);
      return false;
    }
    const again = { ...newSlot(request, pendingQuery), retried: true };
    if (slot.synced === undefined) this.#send(again, true);
    else this.#begin({ ...again, synced: false, batch: slot.batch }, true);
    return true;
  }
}
