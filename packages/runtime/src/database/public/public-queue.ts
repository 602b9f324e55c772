/**
 * Turns of statements of callers without a token that are not known to be quick. They share a few places, so that they
 * leave the database to those who sign in and write. Likewise one client leaves it to the others.
 *
 * Slow statements have one place a client, and leave one place to all others. That place is free again as soon as the
 * statement in it turns out to be slow.
 */
import { ClientGoneError } from '../../errors.ts';
import type { ReadClient } from '../database.ts';
import { ConnectionError } from '../errors.ts';
import { type Waited, Waits } from '../waits.ts';
import { type PaceLimits, PublicPace, type StatementKind, StatementTimes } from './public-pace.ts';

/** Number of statements that may run at once, and the time that one waits. */
export interface TurnLimits extends PaceLimits {
  /** Places of statements that are not known to be quick. */
  readonly places: number;
  /** Number of such statements at once, with those that turned out to be slow. */
  readonly maxCount: number;
  /** Time that a statement waits for its turn, in milliseconds. */
  readonly timeoutMs: number;
  /** Quick statements of one client that need no place: infinity where a connection takes several at once, 0 where each has its turn. */
  readonly quickOfClient: number;
}

export interface Asker {
  readonly kind: StatementKind;
  readonly client: string;
  /** True if it has begun before, and holds a connection while it waits. */
  readonly goesOn: boolean;
  /** True if it needs no place while its kind is quick: a stream always does. */
  readonly mayBeFree?: true;
  /** It waits no longer once its reader has left. Default: the reader stays. */
  readonly reader?: Pick<ReadClient, 'isGone'>;
}

/** A statement under way. */
export interface Turn extends Asker {
  /** Time from which it counts: the way to the server is none of its own. Infinity: it has not been sent yet. */
  begun: number;
  /** True if it counted as slow when it began. */
  readonly isSlow: boolean;
  /** True if it takes no place, as its kind was quick. */
  readonly isFree: boolean;
}

interface WaitingTurn {
  readonly asker: Asker;
  readonly since: number;
  readonly deadline: number;
  readonly begin: (turn: Turn) => void;
  readonly refuse: (error: Error) => void;
}

/** Milliseconds of a way to the server that count for no statement; those of a short way do, which is hardly more than noise. */
const shortWayMs = 10;
const longestWayMs = 1_000;
/** The same way takes a little longer at times. */
const unevenness = 1.1;
/** Ways in which a connection is made: statements wait so much longer for their turn. */
const connectingWays = 4;

/** Interval at which waiting statements are looked at, in milliseconds. */
const lookMs = 10;
/** So many wait where clients ask for more than there is. */
const manyWaiting = 4;
/** Statements that may wait, in all and of one client; more are refused at once. Servers that render pages ask many at once. */
const maxWaiting = 1_000;
const maxWaitingOfClient = 250;

/** Lets statements begin by turns: the next is the one, among those that may begin, whose client used least of late. */
export class PublicQueue {
  readonly times: StatementTimes;
  readonly #limits: TurnLimits;
  readonly #roundTripMs: () => number;
  readonly #running = new Set<Turn>();
  /** Quick statements under way without a place, by client. */
  readonly #free = new Map<string, number>();
  #waiting: WaitingTurn[] = [];
  readonly #waits = new Waits();
  readonly #pace: PublicPace;
  #timer: NodeJS.Timeout | undefined;

  /** `roundTripMs` tells how long the way to the server and back takes at least. */
  constructor(limits: TurnLimits, roundTripMs = () => 0) {
    this.#limits = limits;
    this.#roundTripMs = roundTripMs;
    this.times = new StatementTimes(limits.slowMs);
    this.#pace = new PublicPace(limits);
  }

  /** Runs work of callers with a token, which goes first where the limits say so. */
  beside<T>(run: () => Promise<T>): Promise<T> {
    return this.#limits.beside === null ? run() : this.#pace.beside(run);
  }

  /** Milliseconds of the way to the server, as far as they are taken off the times of statements. */
  get wayMs(): number {
    const ms = this.#roundTripMs();
    return ms < shortWayMs ? 0 : Math.min(ms * unevenness, longestWayMs);
  }

  get waited(): Waited {
    return this.#waits.waited;
  }

  /**
   * Gives a turn, at once if there is a place. Rejects with `ConnectionError` if there is none in time, and with
   * `ClientGoneError` if its reader leaves before.
   */
  enter(asker: Asker): Turn | Promise<Turn> {
    const isFirst = this.#waiting.length === 0 || asker.goesOn || this.#isFree(asker);
    return isFirst && this.#mayBegin(asker, performance.now()) ? this.#begin(asker) : this.#wait(asker);
  }

  /** Notes that a statement is sent at this moment. */
  sent(turn: Turn): void {
    turn.begun = performance.now() + this.wayMs;
  }

  /** Ends a turn. To be called once; `isReported` is false if its time says nothing about the statement. */
  leave(turn: Turn, isReported = true): void {
    const now = performance.now();
    const ms = Math.max(0, now - turn.begun);
    if (turn.isFree) this.#leaveFree(turn, isReported ? ms : Number.POSITIVE_INFINITY);
    else {
      this.#running.delete(turn);
      if (isReported && turn.begun < Number.POSITIVE_INFINITY) this.times.note(turn.kind, turn.client, ms);
      if (!this.times.isQuick(turn.kind)) this.#pace.ended(now, ms);
    }
    this.#serve();
  }

  #leaveFree({ kind, client }: Turn, ms: number): void {
    const count = this.#free.get(client) ?? 0;
    if (count > 1) this.#free.set(client, count - 1);
    else this.#free.delete(client);
    if (ms > this.#limits.slowMs) this.times.doubt(kind);
  }

  #isFree({ kind, client, mayBeFree }: Asker): boolean {
    return mayBeFree === true && this.times.isQuick(kind) && (this.#free.get(client) ?? 0) < this.#limits.quickOfClient;
  }

  #mayBegin(asker: Asker, since: number): boolean {
    if (this.#isFree(asker)) return true;
    const { places, maxCount: maxReads, slowMs } = this.#limits;
    const now = performance.now();
    if (this.#running.size >= maxReads || this.#pace.yields(now, since) || this.#isPaused(asker, now)) return false;
    const { kind, client } = asker;
    const slow = [...this.#running].filter((turn) => turn.isSlow || now - turn.begun > slowMs);
    if (!this.times.isSlow(kind, client)) return this.#running.size - slow.length < Math.max(1, places - slow.length);
    return slow.length < Math.max(1, places - 1) && !slow.some((turn) => turn.client === client);
  }

  #isPaused({ kind, client, goesOn }: Asker, now: number): boolean {
    const { times } = this;
    if (this.#pace.isPausing(now) && !times.isQuick(kind) && this.#pace.isHeld(times.usedBy(client))) return true;
    if (goesOn) return false;
    const isSlow = times.isSlow(kind, client);
    if (isSlow && this.#pace.isPausingSlow(now)) return true;
    if (this.#waiting.length < manyWaiting || (!isSlow && times.isKnown(kind))) return false;
    return this.#pace.isShareUsed(now);
  }

  #begin(asker: Asker): Turn {
    const { kind, client } = asker;
    const now = performance.now();
    const isFree = this.#isFree(asker);
    const turn = { ...asker, begun: now + this.wayMs, isSlow: this.times.isSlow(kind, client), isFree };
    if (isFree) this.#free.set(client, (this.#free.get(client) ?? 0) + 1);
    else {
      this.#pace.begun(now);
      this.#running.add(turn);
    }
    return turn;
  }

  async #wait(asker: Asker): Promise<Turn> {
    const isOfClient = (waiting: WaitingTurn): boolean => waiting.asker.client === asker.client;
    const isFull = this.#waiting.length >= maxWaiting || this.#waiting.filter(isOfClient).length >= maxWaitingOfClient;
    if (isFull && !asker.goesOn) throw new ConnectionError('Too many statements wait for their turn.');
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    const since = performance.now();
    const deadline = asker.goesOn
      ? Number.POSITIVE_INFINITY
      : since + this.#limits.timeoutMs + connectingWays * this.wayMs;
    this.#waiting.push({ asker, since, deadline, begin: resolve, refuse: reject });
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    const ended = this.#waits.begin();
    this.#serve();
    return promise.finally(ended);
  }

  /** Places become free and pauses end while nothing else happens. */
  #look(): void {
    const now = performance.now();
    // Others of its kind and its client's others are not let into the place that it leaves.
    for (const { kind, client, begun } of this.#running)
      if (now - begun > this.#limits.slowMs) this.times.suspect(kind, client);
    const isLate = ({ deadline }: WaitingTurn): boolean => deadline < now;
    for (const { refuse } of this.#take(isLate)) refuse(new ConnectionError('The database was busy for too long.'));
    for (const { refuse } of this.#take(hasLeft)) refuse(new ClientGoneError());
    this.#serve();
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Takes some of those that wait out of the queue. */
  #take(isTaken: (waiting: WaitingTurn) => boolean): readonly WaitingTurn[] {
    const taken = this.#waiting.filter(isTaken);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((waiting) => !taken.includes(waiting));
    return taken;
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      if (hasLeft(next)) next.refuse(new ClientGoneError());
      else next.begin(this.#begin(next.asker));
    }
  }

  #next(): WaitingTurn | undefined {
    let next: WaitingTurn | undefined;
    let least = Number.POSITIVE_INFINITY;
    // One moment for all: used time counts less by the microsecond, and the latest of a client would come first.
    const now = performance.now();
    for (const waiting of this.#waiting) {
      const rank = this.#rank(waiting.asker, now);
      if (rank < least && this.#mayBegin(waiting.asker, waiting.since)) [next, least] = [waiting, rank];
    }
    return next;
  }

  /** Rank of a waiting turn: those that hold a connection first, then by the client's time, running turns included. */
  #rank({ client, goesOn }: Asker, now: number): number {
    if (goesOn) return -1;
    let rank = this.times.usedBy(client, now);
    for (const turn of this.#running) if (turn.client === client) rank += Math.max(0, now - turn.begun) + 1;
    return rank;
  }
}

function hasLeft({ asker }: WaitingTurn): boolean {
  return asker.reader?.isGone === true;
}
