/** The share of the connections that streams have. Their number is bounded, so that writes never wait for one. */
import { PlatformError } from '../errors.ts';
import type { Database, StreamLoad } from './database.ts';
import { abortError, ConnectionError } from './errors.ts';
import { Waits } from './waits.ts';

interface StreamLimits {
  /** Streams under way at once. */
  readonly maxCount: number;
  /** Maximum of one client address. */
  readonly maxOfClient: number;
  /** Time that one waits for its turn before it is unavailable, in milliseconds. */
  readonly timeoutMs: number;
}

interface Asker {
  /** Address of the client; absent where there is none, as for work of the server itself. */
  readonly client: string | undefined;
  readonly isPublic: boolean;
}

interface WaitingStream {
  readonly asker: Asker;
  readonly begin: () => void;
}

/** Streams of one client that may wait; more are refused at once. Servers that render pages ask many at once. */
const maxWaitingOfClient = 250;

/** Streams that may wait; more are refused at once. */
const maxWaiting = 1_000;

/** Lets streams begin by turns: those of callers with a token first, then those of the client that has fewest. */
export class StreamShare {
  readonly #limits: StreamLimits;
  readonly #running: Asker[] = [];
  readonly #waiting: WaitingStream[] = [];
  readonly #waits = new Waits();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get load(): StreamLoad {
    return { ...this.#waits.waited, running: this.#running.length, maxCount: this.#limits.maxCount };
  }

  /** Resolves when a stream may begin, with the function that ends it; rejects with SERVICE_UNAVAILABLE when late. */
  async enter(asker: Asker, signal: AbortSignal): Promise<() => void> {
    if (this.#mayBegin(asker)) this.#running.push(asker);
    else await this.#wait(asker, signal);
    return () => {
      this.#running.splice(this.#running.indexOf(asker), 1);
      this.#next();
    };
  }

  /** Callers without a token leave one place to those who have one. */
  #mayBegin({ client, isPublic }: Asker): boolean {
    const { maxCount: maxStreams, maxOfClient } = this.#limits;
    if (this.#running.length >= maxStreams) return false;
    if (isPublic && maxStreams > 1 && this.#running.filter((stream) => stream.isPublic).length >= maxStreams - 1)
      return false;
    return client === undefined || countOf(this.#running, client) < maxOfClient;
  }

  async #wait(asker: Asker, signal: AbortSignal): Promise<void> {
    const { client } = asker;
    const isTooMany =
      client !== undefined &&
      countOf(
        this.#waiting.map((stream) => stream.asker),
        client,
      ) >= maxWaitingOfClient;
    if (isTooMany || this.#waiting.length >= maxWaiting) throw tooBusy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: WaitingStream = { asker, begin: resolve };
    this.#waiting.push(waiting);
    const ended = this.#waits.begin();
    const timer = setTimeout(() => reject(tooBusy()), this.#limits.timeoutMs);
    const giveUp = (): void => reject(abortError(signal));
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      ended();
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      const index = this.#waiting.indexOf(waiting);
      if (index >= 0) this.#waiting.splice(index, 1);
    }
  }

  #next(): void {
    const able = this.#waiting.filter(({ asker }) => this.#mayBegin(asker));
    const rank = ({ isPublic, client }: Asker): number =>
      (isPublic ? maxWaiting : 0) + (client === undefined ? 0 : countOf(this.#running, client));
    const [next] = able.toSorted((a, b) => rank(a.asker) - rank(b.asker));
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#running.push(next.asker);
    next.begin();
  }
}

export function shareStreams(database: Database, limits: StreamLimits): Database {
  const share = new StreamShare(limits);
  return {
    ...database,
    async stream(statement, parameters, sink, drained, signal, client) {
      const leave = await share.enter({ client, isPublic: statement.isPublic === true }, signal);
      try {
        await database.stream(statement, parameters, sink, drained, signal, client);
      } finally {
        leave();
      }
    },
    load: () => ({ ...database.load?.(), streams: share.load }),
  };
}

function countOf(askers: readonly Asker[], client: string): number {
  return askers.filter((asker) => asker.client === client).length;
}

function tooBusy(): PlatformError {
  const cause = new ConnectionError('Too many answers are being streamed.');
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}
