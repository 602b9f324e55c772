/** Turns of the event loop. Callers without a token begin in a bounded part of each, so that others are heard. */
import { PlatformError } from '../errors.ts';
import type { CallReader } from './call.ts';

/** Milliseconds of one turn in which requests begin. */
const sliceMs = 10;

interface WaitingRequest {
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (error: PlatformError) => void;
}

/** Spreads requests over turns of the event loop. */
export class LoopQueue {
  readonly #timeoutMs: number;
  /** Time when the first request of this turn began; undefined before it. */
  #begun: number | undefined;
  #waiting: WaitingRequest[] = [];

  /** `timeoutMs` is how long a request waits before it is refused. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Undefined if a request may begin at once; else resolves when it may. Rejects with SERVICE_UNAVAILABLE if that is late. */
  acquire(): Promise<void> | undefined {
    const now = performance.now();
    if (this.#begun === undefined) {
      this.#begun = now;
      setImmediate(this.#endTurn);
      return undefined;
    }
    if (this.#waiting.length === 0 && now - this.#begun < sliceMs) return undefined;
    return new Promise((begin, refuse) => this.#waiting.push({ since: now, begin, refuse }));
  }

  readonly #endTurn = (): void => {
    this.#begun = undefined;
    if (this.#waiting.length === 0) return;
    this.#begun = performance.now();
    // Each in an immediate of its own, after which promises continue: only then is it known how long the last took.
    for (const request of this.#waiting.splice(0)) setImmediate(this.#begin, request);
    setImmediate(this.#endTurn);
  };

  readonly #begin = (request: WaitingRequest): void => {
    const now = performance.now();
    if (now - (this.#begun ?? now) >= sliceMs) this.#waiting.push(request);
    else if (now - request.since > this.#timeoutMs) request.refuse(new PlatformError('SERVICE_UNAVAILABLE'));
    else request.begin();
  };
}

/** Has the requests of callers without a token for items and documents wait for their turn. */
export function spreadCalls(readCall: CallReader, publicClass: string, timeoutMs: number): CallReader {
  const queue = new LoopQueue(timeoutMs);
  return function readSpreadCall(request, routed) {
    const call = readCall(request, routed);
    if (call instanceof Promise || call.caller.accessClass !== publicClass) return call;
    if (call.item === null && request.url?.startsWith('/graphql') !== true) return call;
    const turn = queue.acquire();
    return turn === undefined ? call : turn.then(() => call);
  };
}
