/**
 * Events for the other processes of a project, by Redis. Each says only that something is to be looked at anew: one that is
 * lost costs time. Source: scale-out notes, sections 6 and 9.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describeCause, type Log } from './log.ts';

/** Things that change: rules and the model, and users with their sessions. */
export type BroadcastKind = 'rules' | 'users';

const settings = {
  // An event is for now: what is not sent at once is found by looking.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 200,
  connectTimeout: 5_000,
  // A server that is frozen keeps its connections, and may never see them again.
  socketTimeout: 5_000,
  keepAlive: 10_000,
  retryStrategy: (times: number) => Math.min(times * 200, 5_000),
};

/** Tells other processes of changes, and hears of theirs. While Redis is away it connects again and again, and logs that once. */
export class Broadcast {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** Redis tells subscribers of all its databases alike, while projects differ by the number of theirs. */
  readonly #channel: string;
  /** Name of this process, which is told of its own events as well. */
  readonly #own = randomUUID();
  readonly #heard: Record<BroadcastKind, ((key: string) => void)[]> = { rules: [], users: [] };
  #clients: readonly Redis[] = [];
  #isAway = false;
  #closed = false;

  constructor(url: string, log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
    this.#channel = `platform:events:${new URL(url).pathname.slice(1) || '0'}`;
    this.#connect(url).catch((cause: unknown) => this.#away(cause));
  }

  /** Tells of a change after its commit; `key` is that of the user, and empty for all. Waits for nothing, and never throws. */
  publish(kind: BroadcastKind, key = ''): void {
    // The connections themselves say that Redis is away.
    this.#clients[0]?.publish(this.#channel, `${this.#own} ${kind} ${key}`).catch(() => {});
  }

  /** Calls back for changes of other processes, and with an empty key where some may have been missed. */
  subscribe(kind: BroadcastKind, heard: (key: string) => void): void {
    this.#heard[kind].push(heard);
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients) client.disconnect();
  }

  async #connect(url: string): Promise<void> {
    const { Redis } = await import('ioredis');
    if (this.#closed) return;
    // A connection that subscribes sends nothing else.
    const [publisher, subscriber] = [new Redis(url, settings), new Redis(url, settings)];
    this.#clients = [publisher, subscriber];
    for (const client of this.#clients) {
      client.on('error', (cause: unknown) => this.#away(cause));
      client.on('close', () => this.#away(new Error('The connection was closed.')));
    }
    subscriber.on('message', (_channel: string, text: string) => this.#receive(text));
    publisher.on('ready', () => this.#back());
    subscriber.on('ready', () => {
      subscriber.subscribe(this.#channel).then(
        () => this.#back(),
        (cause: unknown) => this.#away(cause),
      );
    });
  }

  #receive(text: string): void {
    const [sender, kind, key = ''] = text.split(' ');
    if (sender !== this.#own && (kind === 'rules' || kind === 'users')) this.#pass(kind, key);
  }

  #pass(kind: BroadcastKind, key: string): void {
    for (const heard of this.#heard[kind]) heard(key);
  }

  #away(cause: unknown): void {
    if (this.#isAway || this.#closed) return;
    this.#isAway = true;
    const sentence =
      'Redis carries no notices. Other processes see changes of rules and sessions by looking, which takes longer.';
    this.#log.warn({ cause: describeCause(cause) }, sentence);
  }

  /** Events may have been missed until now. */
  #back(): void {
    for (const kind of ['rules', 'users'] as const) this.#pass(kind, '');
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log.info({}, 'Redis carries notices again.');
  }
}
