/** Several servers of one database: finds the one that takes writes. Source: scale-out notes, section 2. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeCause, type Log } from '../../operate/log.ts';
import { ConnectionError } from '../errors.ts';
import { askProbe, type HostFacts, type HostProbe, type HostReport, hasCaughtUp } from '../host-state.ts';
import {
  choosePrimary,
  type Failover,
  type HostChange,
  type HostProblem,
  type KnownPrimary,
} from './choose-primary.ts';

interface HostGroupOptions {
  /** One for each candidate, in order. */
  readonly probes: readonly HostProbe[];
  /** DATABASE_READ_ONLY: a server that only reads will do. */
  readonly readOnly: boolean;
  /** Time that writes wait for a server that takes them. */
  readonly waitMs: number;
  /** Milliseconds between two looks at every server. Default: a second. */
  readonly lookMs?: number;
  /** Takes the server that takes writes, at each look. */
  readonly onLook?: (facts: HostFacts) => void;
  readonly log: () => Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Milliseconds between two looks at every server as a rule, and between two while none takes writes. */
export const usualLookMs = 1_000;
const searchMs = 100;
/** Milliseconds after which a search slows down. */
const longSearchMs = 10_000;
/** Writes that wait for a server that takes them; more are refused at once. */
const maxWaiting = 1_000;

/** Candidates for writing. */
export class HostGroup implements Failover {
  readonly #options: HostGroupOptions;
  readonly #listeners: ((change: HostChange) => void)[] = [];
  readonly #waiting = new Set<() => void>();
  #facts: readonly HostFacts[];
  #known: KnownPrimary | null = null;
  #settled = false;
  /** Time when the server that takes writes was lost. */
  #lostAt = performance.now();
  /** True once statements under way were told that their server answers them no more. */
  #isGone = false;
  #searching: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #problem: HostProblem | null = null;
  #losses = 0;
  #looks = 0;
  #closed = false;
  /** Servers that the log has told to be away. */
  readonly #silent = new Set<number>();

  constructor(options: HostGroupOptions) {
    this.#options = options;
    this.#facts = options.probes.map(() => ({ state: 'away' }));
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  get isTimedOut(): boolean {
    return !this.#settled && performance.now() - this.#lostAt > this.#options.waitMs;
  }

  /** Number of times that writing was in doubt: it tells if a failure may have to do with that. */
  get losses(): number {
    return this.#losses;
  }

  /** Position of the server that takes writes, or did last. */
  get position(): number {
    return this.#known?.index ?? 0;
  }

  /** Cluster and history that are written; null before a server was found. */
  get known(): Omit<KnownPrimary, 'index'> | null {
    return this.#known;
  }

  /** Every candidate as it was when it was asked last. */
  get reports(): readonly HostReport[] {
    return this.#facts.map(reportOf);
  }

  /** Errors of the candidates that could not be asked. */
  get errors(): readonly unknown[] {
    return this.#facts.flatMap(({ error }) => (error === undefined ? [] : [error]));
  }

  /** The state of the database as a whole: that of the best of its servers. */
  get report(): HostReport {
    const best = this.#settled ? this.#facts[this.position] : undefined;
    const order = ['read-only', 'joining', 'no-quorum', 'away'] as const;
    const states = this.#facts.filter(({ state }) => state !== 'primary');
    const found = best ?? order.map((state) => states.find((facts) => facts.state === state)).find(Boolean);
    const { sentence, hosts } = this.#problem ?? {};
    const problem =
      sentence === undefined ? {} : { problem: `${sentence} Place in DATABASE_URL: ${hosts?.join(', ')}.` };
    return { ...reportOf(found ?? { state: 'away' }), ...problem };
  }

  listen(changed: (change: HostChange) => void): void {
    this.#listeners.push(changed);
  }

  /** Looks for the server that takes writes, from now on every second. Resolves after the first look. */
  async start(): Promise<void> {
    await this.#look();
    if (!this.#settled) this.#search();
    this.#lookLater();
  }

  lost(): void {
    if (this.#closed || this.#searching !== null) return;
    this.#losses++;
    this.#unsettle();
    this.#search();
  }

  /** Undefined where writes have a server; else resolves when they have one. Rejects at the deadline, and where too many wait. */
  writable(deadline: number): Promise<void> | undefined {
    if (this.#settled) return undefined;
    if (this.#closed || this.#waiting.size >= maxWaiting) return Promise.reject(noServer());
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        if (this.#settled) resolve();
        else reject(noServer());
      };
      const timer = setTimeout(done, Math.max(0, deadline - performance.now()));
      this.#waiting.add(done);
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const done of this.#waiting) done();
    for (const server of this.#options.probes) server.reset();
  }

  #lookLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void (this.#searching ?? this.#look()).then(() => {
        if (!this.#settled) this.#search();
        this.#lookLater();
      });
    }, this.#options.lookMs ?? usualLookMs).unref();
  }

  #search(): void {
    this.#searching ??= this.#searchOn().finally(() => {
      this.#searching = null;
    });
  }

  async #searchOn(): Promise<void> {
    const begun = performance.now();
    while (!this.#closed) {
      // Names are resolved anew: the server may have another address by now.
      for (const server of this.#options.probes) server.reset();
      await this.#look();
      if (this.#settled) return;
      const isLong = performance.now() - begun > longSearchMs;
      await sleep(isLong ? 3 * searchMs : searchMs, undefined, { ref: false });
    }
  }

  /** Asks all at once. A server that has surely come after the known one is taken before silent ones are given up. */
  async #look(): Promise<void> {
    const { probes } = this.#options;
    this.#looks++;
    const number = this.#looks;
    const facts: (HostFacts | undefined)[] = probes.map(() => undefined);
    const requests = probes.map(async (server, index) => {
      const found = await askProbe(server);
      facts[index] = found;
      if (!this.#settled && number === this.#looks && this.#surelyFollows(found)) this.#take(index, found);
    });
    await Promise.all(requests);
    // One that began later knows better.
    if (this.#closed || number !== this.#looks) return;
    this.#facts = facts.map((found) => found ?? { state: 'away' });
    this.#reportSilent();
    await this.#choose();
  }

  #surelyFollows({ state, system, timeline = 0 }: HostFacts): boolean {
    if (state !== 'primary' || this.#known === null) return false;
    return system === this.#known.system && timeline > (this.#known.timeline ?? Number.POSITIVE_INFINITY);
  }

  async #choose(): Promise<void> {
    const { readOnly, probes } = this.#options;
    const { index, problem } = choosePrimary(this.#facts, this.#known, readOnly);
    this.#report(problem);
    const facts = index === null ? undefined : this.#facts[index];
    const isOther = index !== null && (!this.#settled || this.#known?.index !== index);
    const isReady = !isOther || (await hasCaughtUp(probes[index]));
    if (this.#closed) return;
    if (index === null || facts === undefined || !isReady) {
      if (this.#settled) this.#losses++;
      this.#unsettle();
      this.#leave();
    } else {
      this.#options.onLook?.(facts);
      this.#take(index, facts);
    }
  }

  #take(index: number, { position, positionSql, ...facts }: HostFacts): void {
    const { system, timeline, instance, database } = facts;
    const before = this.#known;
    const primary = { index, system, timeline, instance, database, hasPosition: position !== undefined, positionSql };
    const moved = before !== null && (before.index !== index || before.timeline !== timeline);
    this.#known = primary;
    if (this.#settled && !moved) return;
    this.#settled = true;
    this.#isGone = false;
    if (moved) this.#options.log().info({ host: index + 1 }, 'Another database server takes writes now.');
    this.#tell(moved ? 'moved' : 'found');
    for (const done of this.#waiting) done();
  }

  #unsettle(): void {
    if (!this.#settled) return;
    this.#settled = false;
    this.#lostAt = performance.now();
    this.#tell('lost');
  }

  /** A node without the others lets a COMMIT wait until they are back. */
  #leave(): void {
    if (this.#isGone || this.#known === null || this.#facts[this.position]?.state !== 'no-quorum') return;
    this.#isGone = true;
    this.#tell('gone');
  }

  #tell(change: HostChange): void {
    for (const changed of this.#listeners) changed(change);
  }

  /** Logs each server that does not answer once, until it does. */
  #reportSilent(): void {
    if (this.#facts.length === 1) return;
    for (const [index, { state, error }] of this.#facts.entries()) {
      if (state !== 'away') this.#silent.delete(index);
      else if (!this.#silent.has(index)) {
        this.#silent.add(index);
        const cause = error === undefined ? {} : { cause: describeCause(error) };
        this.#options.log().warn({ host: index + 1, ...cause }, 'A database server does not answer.');
      }
    }
  }

  /** Logs a problem once, until it is over. */
  #report(problem: HostProblem | null): void {
    const { sentence, hosts } = problem ?? {};
    if (sentence !== undefined && sentence !== this.#problem?.sentence) this.#options.log().error({ hosts }, sentence);
    this.#problem = problem;
  }
}

export function reportOf({ state, lag }: HostReport): HostReport {
  return { state, ...(lag !== undefined && { lag }) };
}

function noServer(): ConnectionError {
  return new ConnectionError('No database server takes writes.');
}
