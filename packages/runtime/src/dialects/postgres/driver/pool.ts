/**
 * The connections to one server, and their allocation.
 *
 * Reads share a few connections by pipelining. When one answer takes long, the reads after it move to other connections.
 * The pool grows for that up to its limit. Streams and transactions lease a connection each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadClient, RowSink } from '../../../database/database.ts';
import {
  abortError,
  ConnectionError,
  isLost,
  isNotPrimary,
  PoolingError,
  toDatabaseError,
} from '../../../database/errors.ts';
import type { HostChange } from '../../../database/hosts/choose-primary.ts';
import { type Waited, Waits } from '../../../database/waits.ts';
import type { PlatformError } from '../../../errors.ts';
import type { PoolLoad } from '../../../operate/metrics/pool-metrics.ts';
import type { Channel, Request } from '../protocol/request.ts';
import { Backoff, type Open } from './connect.ts';
import { answerTimeout, connectionsForTransactions, type PostgresSettings } from './options.ts';
import {
  closeMembers,
  countUsed,
  dropAll,
  dropForWrites,
  endUnused,
  headAge,
  isOverdue,
  type LeaseFor,
  lentOf,
  missingKind,
  newMember,
  type PooledConnection,
  pickForLease,
  pickForRead,
  type Waiting,
} from './pooled-connection.ts';
import { PipelineDepth, Read, ReadQueues, sendRead } from './read.ts';

/** Interval at which the pool looks after its connections while there is something to look after. */
const lookMs = 50;
/** An answer that takes longer, the way to the server apart, lets the reads after it move on. */
const stallMs = 100;
/** Requests that may wait for a connection; more are refused at once. */
const maxWaiting = 5_000;

/** A pool of connections to one PostgreSQL server. */
export class Pool {
  readonly settings: PostgresSettings;
  readonly #open: Open;
  readonly #backoff = new Backoff();
  readonly #depth: PipelineDepth;
  #members: PooledConnection[] = [];
  #opening = { shared: 0, other: 0 };
  readonly #lent: number;
  readonly #queues = new ReadQueues();
  #leases: Waiting[] = [];
  readonly #waits = new Waits();
  #timer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #lastFailure: unknown;
  #isGone = false;
  #closing = false;

  /** `depth` limits how many reads are queued on a shared connection. */
  constructor(settings: PostgresSettings, open: Open, depth = new PipelineDepth()) {
    this.settings = settings;
    this.#open = open;
    this.#depth = depth;
    this.#lent = settings.poolMax - settings.readConnections - connectionsForTransactions(settings);
    settings.failover.listen((change) => this.#hostChanged(change));
  }

  get waited(): Waited {
    return this.#waits.waited;
  }

  /** All connections, and all that wait for one. */
  get load(): PoolLoad & ReturnType<typeof countUsed> {
    const waiting = this.#queues.length + this.#leases.length;
    return { ...countUsed(this.#members), max: this.settings.poolMax, waiting };
  }

  /** Opens the shared connections; rejects when the first cannot be made. */
  async start(): Promise<void> {
    try {
      const first = await this.#open(true, this.#lost);
      this.#members.push(newMember(first, true, performance.now()));
    } catch (cause) {
      throw cause instanceof PoolingError ? cause : toDatabaseError(cause);
    }
    this.#maintain();
  }

  /** Runs a statement on a shared connection; rejects with `PlatformError`. `took`: its time, if it ran there alone. */
  read(request: Request, sink: RowSink, client?: ReadClient, took?: (ms: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error: unknown): void => {
        if (this.#queues.length > 0) this.#serve();
        if (error !== undefined) {
          reject(error);
          return;
        }
        if (took !== undefined && read.startedAt !== undefined) took(performance.now() - read.startedAt);
        resolve();
      };
      const read = new Read(request, sink, this.#dispatch, done, client);
      this.#dispatch(read);
    });
  }

  /** Sends requests now: nothing follows in this turn of the event loop. */
  flush(): void {
    for (const { connection } of this.#members) connection.flush();
  }

  /** Leases a connection; give it back with `release`. It may still end a transaction where there is no better one. */
  async lease(leaseFor: LeaseFor, signal?: AbortSignal): Promise<PooledConnection> {
    const isRefused = leaseFor === 'transaction' && !this.settings.failover.isSettled;
    if (isRefused || this.#refuses(this.#leases.length)) throw this.#unavailable();
    const { promise, resolve, reject } = Promise.withResolvers<PooledConnection>();
    const waiting: Waiting = { deadline: this.#deadline(), leaseFor, take: resolve, refuse: reject };
    const abort = (): void => this.#withdrawLease(waiting, signal && abortError(signal));
    signal?.addEventListener('abort', abort);
    this.#leases.push(waiting);
    this.#watch();
    this.#serve();
    this.#maintain();
    const served = this.#leases.includes(waiting) ? this.#waits.begin() : undefined;
    try {
      return await promise;
    } finally {
      served?.();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Takes a leased connection back. It must run nothing but the end of a transaction. */
  release(member: PooledConnection): void {
    member.leased = false;
    this.ended(member);
  }

  /** A transaction has failed. Where the server refused to write, connections of writes are made anew. */
  failed(failure: unknown): void {
    if (!isNotPrimary(failure) && !isLost(failure)) return;
    if (isNotPrimary(failure)) dropForWrites(this.#members);
    this.settings.failover.lost();
  }

  #hostChanged(change: HostChange): void {
    if (change === 'lost') {
      for (const waiting of [...this.#leases]) if (waiting.leaseFor === 'transaction') this.#withdrawLease(waiting);
      return;
    }
    // Reads that were lost with it come back after a pause, and are refused then.
    this.#isGone = change === 'gone';
    if (change !== 'found') dropAll(this.#members, this.#isGone);
    this.#backoff.succeed();
    if (this.#isGone) this.#refuseWaiting(Number.POSITIVE_INFINITY);
    this.#maintain();
  }

  /** A connection that was taken back has ended its transaction, too. */
  ended(member: PooledConnection): void {
    member.idleSince = performance.now();
    this.#watch();
    this.#serve();
  }

  /** Waits for requests under way, at most `graceMs`, refusing everything new; then closes every connection. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#retryTimer);
    const end = performance.now() + graceMs;
    while (this.#busy() && performance.now() < end) await sleep(Math.min(10, graceMs));
    clearInterval(this.#timer);
    this.#refuseWaiting(Number.POSITIVE_INFINITY);
    await closeMembers(this.#members);
  }

  /** Sends a read to a connection that has room, or lets it wait for one. */
  readonly #dispatch = (read: Read): void => {
    const member = this.#pick(read);
    if (member === undefined || this.#queues.of(read).length > 0 || this.#closing) {
      this.#enqueue(read);
      return;
    }
    this.#watch();
    sendRead(member, read);
  };

  #pick({ request }: Read): PooledConnection | undefined {
    return pickForRead(this.#members, {
      depth: this.#depth.value,
      sharedOnly: this.#leases.length > 0,
      brief: request.brief === true,
      apart: request.apart === true,
      lent: this.#lent,
    });
  }

  #busy(): boolean {
    return this.load.waiting > 0 || this.#members.some(({ connection, leased }) => leased || connection.inFlight > 0);
  }

  #enqueue(read: Read): void {
    const queue = this.#queues.of(read);
    if (this.#refuses(queue.length)) {
      read.settled(this.#unavailable());
      return;
    }
    read.deadline = this.#deadline();
    queue.push(read);
    this.#watch();
    this.#maintain();
  }

  #deadline(): number {
    return performance.now() + this.settings.poolTimeoutMs;
  }

  /** A request that waited until now has got its connection. */
  #waitedFor({ deadline }: { readonly deadline: number }): void {
    this.settings.poolObserver.waited(performance.now() - deadline + this.settings.poolTimeoutMs);
  }

  #refuses(waiting: number): boolean {
    return this.#closing || this.#isGone || waiting >= maxWaiting;
  }

  #timedOut(): PlatformError {
    this.settings.poolObserver.timedOut();
    return this.#unavailable();
  }

  #unavailable(): PlatformError {
    const cause = new ConnectionError('No connection to the database was free in time.', { cause: this.#lastFailure });
    return toDatabaseError(cause);
  }

  /** Gives connections to those who wait: first to streams, which can use only some of them. */
  #serve(): void {
    for (const waiting of [...this.#leases]) {
      // A stream that has to wait keeps no transaction waiting.
      if (waiting.leaseFor === 'stream' && lentOf(this.#members) >= this.#lent) continue;
      const member = pickForLease(this.#members, waiting.leaseFor === 'transaction' && this.#isFull());
      if (member === undefined) break;
      member.leased = true;
      member.streams = waiting.leaseFor === 'stream';
      this.#leases.splice(this.#leases.indexOf(waiting), 1);
      this.#waitedFor(waiting);
      waiting.take(member);
    }
    for (const queue of this.#queues.all) {
      for (let [read] = queue; read !== undefined; [read] = queue) {
        const member = this.#pick(read);
        if (member === undefined) break;
        if (read.isGone) {
          this.#dropLeft();
          continue;
        }
        queue.shift();
        this.#waitedFor(read);
        sendRead(member, read);
      }
    }
  }

  /** True if there can be no more connections; while there can, no transaction waits for the COMMIT of another. */
  #isFull(): boolean {
    return this.#members.length >= this.settings.poolMax;
  }

  /** Opens the connections that are missing, one at a time while the server does not answer. */
  #maintain(): void {
    if (this.#closing) return;
    const wait = this.#backoff.wait(performance.now());
    if (wait > 0) {
      clearTimeout(this.#retryTimer);
      this.#retryTimer = setTimeout(() => this.#maintain(), wait).unref();
      return;
    }
    for (let shared = this.#missing(); shared !== undefined; shared = this.#missing()) void this.#add(shared);
  }

  #missing(): boolean | undefined {
    const waiting = this.#leases.length + this.#queues.length;
    return missingKind(this.#members, this.#opening, waiting, this.#backoff.failing, this.settings);
  }

  async #add(shared: boolean): Promise<void> {
    const kind = shared ? 'shared' : 'other';
    this.#opening[kind]++;
    try {
      const opened = await this.#open(shared, this.#lost);
      this.#opening[kind]--;
      this.#backoff.succeed();
      this.#welcome(newMember(opened, shared, performance.now()));
    } catch (error) {
      this.#opening[kind]--;
      this.#lastFailure = error;
      this.#backoff.fail(performance.now(), Math.random());
      this.settings.failover.lost();
    }
    this.#serve();
    this.#maintain();
  }

  #welcome(member: PooledConnection): void {
    if (this.#closing) member.connection.end();
    if (member.connection.isClosed) return;
    this.#members.push(member);
    this.#watch();
  }

  readonly #lost = (connection: Channel, error: unknown): void => {
    this.#lastFailure = error;
    this.#members = this.#members.filter((member) => member.connection !== connection);
    this.#maintain();
  };

  #watch(): void {
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
  }

  /** The regular check of every connection and all waiting requests. */
  #look(): void {
    const now = performance.now();
    for (const member of [...this.#members]) this.#lookAt(member, now);
    this.#depth.recover(now);
    this.#dropLeft();
    this.#serve();
    this.#refuseWaiting(now);
    if (!this.#busy() && this.#members.every((member) => member.shared)) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #lookAt(member: PooledConnection, now: number): void {
    const { connection } = member;
    const age = headAge(member, now);
    member.slow = age > stallMs + member.roundTripMs;
    // Transactions look after themselves, also those that only end.
    if (member.leased || connection.ends) return;
    if (connection.head === undefined) endUnused(member, now);
    else if (age > answerTimeout(this.settings)) connection.fail(new ConnectionError('No answer in time.'));
    else if (isOverdue(connection.head, member.slow, age, this.settings)) this.#end(member, now);
    else if (member.slow && connection.inFlight > 1 && !member.retired) this.#stalled(member, now);
    else if (age === 0 && member.retired) connection.fail(new ConnectionError('The connection was replaced.'));
  }

  /** Ends the statement under way. No other statement is queued that could be ended in its place. */
  #end(member: PooledConnection, now: number): void {
    if (member.ending) return;
    member.ending = true;
    if (!member.retired) this.#stalled(member, now);
    void member.cancel();
  }

  /** Moves reads after a slow answer to other connections. The server runs them here too, so this one closes after the answer. */
  #stalled(member: PooledConnection, now: number): void {
    member.retired = true;
    this.#depth.stalled(now);
    for (const read of member.connection.withdraw()) if (read instanceof Read) this.#move(read);
    this.#maintain();
  }

  /** Reads of callers without a token wait for their turn again: those after a slow one may be as slow. */
  #move(read: Read): void {
    const { isPublic, brief } = read.request;
    if (read.isGone) read.leave();
    else if (isPublic === true && brief !== true) read.giveBack();
    else this.#dispatch(read);
  }

  #refuseWaiting(now: number): void {
    for (const queue of this.#queues.all) {
      while ((queue[0]?.deadline ?? now) < now) queue.shift()?.settled(this.#timedOut());
    }
    while ((this.#leases[0]?.deadline ?? now) < now) this.#leases.shift()?.refuse(this.#timedOut());
  }

  /** Ends waiting reads whose clients have left. */
  #dropLeft(): void {
    for (const read of this.#queues.takeLeft()) read.leave();
  }

  #withdrawLease(waiting: Waiting, error = this.#unavailable()): void {
    const index = this.#leases.indexOf(waiting);
    if (index < 0) return;
    this.#leases.splice(index, 1);
    waiting.refuse(error);
  }
}
