/** The requests that were sent on a connection and are not answered yet. */
import type { PendingQuery, Request } from './request.ts';

/** A request that was sent, in the order of the answers. */
export interface Slot {
  readonly request: Request;
  /** Undefined once the answer is no longer wanted. */
  pendingQuery: PendingQuery | undefined;
  /** Name under which Parse was sent with this request. */
  parses: string | undefined;
  /** Set until the settings that go in front of the request are applied, with the name under which Parse was sent. */
  setting: { parses: string | undefined } | undefined;
  rows: number;
  error: unknown;
  retried: boolean;
  /** Absent unless the request runs in batches; then whether its Sync has been sent. */
  synced: boolean | undefined;
  /** Rows of its first batch, where it runs in batches. */
  readonly batch: number;
  /** True when it shares the Sync of the request after it. */
  joined: boolean;
}

/** Makes the slot of a request that is about to be sent. */
export function newSlot(request: Request, pendingQuery: PendingQuery): Slot {
  return {
    request,
    pendingQuery,
    parses: undefined,
    setting: undefined,
    rows: 0,
    error: undefined,
    retried: false,
    synced: undefined,
    batch: 0,
    joined: false,
  };
}

/** Settled slots at the front of the queue that are worth being cut off. */
const compactAt = 512;

/** Slots in the order in which they are answered. */
export class SlotQueue {
  #slots: Slot[] = [];
  #first = 0;

  get length(): number {
    return this.#slots.length - this.#first;
  }

  /** The request being answered. */
  get head(): Slot | undefined {
    return this.#slots[this.#first];
  }

  /** The request that was sent last. */
  get last(): Slot | undefined {
    return this.#slots.at(-1);
  }

  push(slot: Slot): void {
    this.#slots.push(slot);
  }

  /** Takes the head away. */
  shift(): void {
    this.#first++;
    if (this.#first < this.#slots.length && this.#first <= compactAt) return;
    this.#slots = this.#slots.slice(this.#first);
    this.#first = 0;
  }

  /** Slots after the head. */
  behind(): readonly Slot[] {
    return this.#slots.slice(this.#first + 1);
  }

  /** Takes all of them away. */
  drain(): readonly Slot[] {
    const left = this.#slots.slice(this.#first);
    this.#slots = [];
    this.#first = 0;
    return left;
  }
}
