/**
 * Bytes of answers that wait for their readers: how many there are in this process, and of each client. Beyond the
 * bound answers wait, and are refused when that takes too long. So clients that do not read cost bounded memory.
 */
import { PlatformError } from '../errors.ts';

/** Bounds of bytes that wait. */
interface UnsentLimits {
  /** Bytes of all clients: STREAM_BUFFER_MAX. */
  readonly maxCount: number;
  /** Time that a large answer waits until there is room, in milliseconds. */
  readonly timeoutMs: number;
}

/** The bytes of one client among all that wait. */
export interface ClientBytes {
  readonly client: string;
  /** Counts bytes that the client has not got yet; subtracts them when they are sent or can no longer be sent. */
  add(bytes: number): void;
  hasRoom(): boolean;
  /** True if more may be gathered for an answer that already has so many bytes counted. */
  hasRoomBeside(ownBytes: number): boolean;
  /** Resolves when there is room; rejects with SERVICE_UNAVAILABLE when that is not in time. */
  room(): Promise<void>;
}

/** A client has at most this part of all bytes to itself. */
const shareOfClient = 4;

export class UnsentBytes {
  readonly #limits: UnsentLimits;
  readonly #clients = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(limits: UnsentLimits) {
    this.#limits = limits;
  }

  /** Bytes that wait now. */
  get used(): number {
    return this.#used;
  }

  of(client: string): ClientBytes {
    return {
      client,
      add: (bytes) => this.#add(client, bytes),
      hasRoom: () => this.#hasRoom(client),
      hasRoomBeside: (ownBytes) => this.#used - ownBytes < this.#limits.maxCount,
      room: () => this.#room(client),
    };
  }

  #add(client: string, bytes: number): void {
    this.#used += bytes;
    const left = (this.#clients.get(client) ?? 0) + bytes;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
    if (bytes < 0) for (const look of [...this.#waiting]) look();
  }

  #hasRoom(client: string): boolean {
    const { maxCount: maximum } = this.#limits;
    return this.#used < maximum && (this.#clients.get(client) ?? 0) < maximum / shareOfClient;
  }

  async #room(client: string): Promise<void> {
    if (this.#hasRoom(client)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#hasRoom(client)) resolve();
    };
    const timer = setTimeout(() => reject(tooMuchUnsent()), this.#limits.timeoutMs);
    this.#waiting.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }
}

/** The refusal of an answer for which there is no room. */
export function tooMuchUnsent(): PlatformError {
  const cause = new Error('Too many bytes of answers wait for clients that do not read them (STREAM_BUFFER_MAX).');
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}
