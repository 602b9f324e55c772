/** Servers that follow the one that takes writes, and answer reads in its place. Source: scale-out notes, section 2. */
import { describeCause, type Log } from '../../operate/log.ts';
import type { Database } from '../database.ts';
import { askProbe, type HostFacts, type HostProbe, type HostReport } from '../host-state.ts';
import type { Failover, HostChange, KnownPrimary } from './choose-primary.ts';
import { reportOf, usualLookMs } from './host-group.ts';
import type { LagMeter } from './positions.ts';

interface ReplicaOptions {
  readonly probe: HostProbe;
  /** Its place in DATABASE_READ_URL, from 1: the log names it so. */
  readonly number: number;
  /** One that lags more is not asked. */
  readonly maxLagMs: number;
  /** Milliseconds between two looks. Default: a second. */
  readonly lookMs?: number;
  /** Connects to it; the choice among servers tells that it is gone. */
  readonly open: (failover: Failover) => Promise<Database>;
}

interface ReplicaSurroundings {
  readonly lag: LagMeter;
  /** Cluster and history that replicas have to follow; null before they are known. */
  readonly followed: () =>
    | (Pick<KnownPrimary, 'system' | 'timeline'> & Partial<Pick<KnownPrimary, 'instance' | 'database'>>)
    | null;
  readonly log: () => Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Connections of a replica on which it may wait for a position: as it may stand still, others are for reads. */
const maxQuestions = 4;

/** Asks a replica where it is; one that waits by itself answers when it has come to the position. */
interface Question {
  readonly position: string;
  readonly reached: Promise<string | null>;
}

const late = 'A replica lags more than DATABASE_READ_MAX_LAG allows. It is not asked until it has caught up.';
const foreign = 'A replica holds another cluster of data than the server that takes writes. It is not asked.';
const elsewhere = 'A replica is named with another database than DATABASE_URL has. It is not asked.';
const former =
  'A replica takes writes of its own, but its history ended when another server was promoted. It is not asked: make it a standby.';
const writer =
  'A replica takes writes of its own, and tells of no history that it follows. It is not asked: make it read-only.';

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #listeners: ((change: HostChange) => void)[] = [];
  readonly #lag: LagMeter;
  readonly #followed: ReplicaSurroundings['followed'];
  readonly #log: ReplicaSurroundings['log'];
  #facts: HostFacts = { state: 'away' };
  /** Milliseconds that it was behind, by the clock of this process where that is known. */
  #lagMs = 0;
  #database: Database | null = null;
  #opening = false;
  #isForeign = false;
  #isFormer = false;
  /** Looks, one after the other, that found it to take writes beside the server that is followed. */
  #writes = 0;
  /** True once the log has told that it is away. */
  #isSilent = false;
  /** True once the log has told that it lags. */
  #isLate = false;
  /** True once its connections were told that it is gone, until they are told that it is back. */
  #isGone = false;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #questions: Question[] = [];
  /** Reads under way. */
  busy = 0;
  /** The latest position that it is known to have reached. */
  reached: string | null = null;

  constructor(options: ReplicaOptions, { lag, followed, log }: ReplicaSurroundings) {
    this.#options = options;
    this.#lag = lag;
    this.#followed = followed;
    this.#log = log;
  }

  /** Connections to it; null where it should not be asked, as one that lags too much. */
  usable(): Database | null {
    const { state } = this.#facts;
    if (state !== 'read-only' && state !== 'primary') return null;
    // Cluster and history may be known only since it was asked: the server that takes writes may be slow to say them.
    this.#judge(this.#facts);
    if (this.#isForeign || this.#isFormer || this.#writes > 0) return null;
    return this.#lagMs <= this.#options.maxLagMs ? this.#database : null;
  }

  get report(): HostReport {
    const { state } = this.#facts;
    const { lag } = this.#facts;
    // That of its own clock is better than none.
    const lagMs = Number.isFinite(this.#lagMs) ? this.#lagMs : (lag ?? this.#lagMs);
    return reportOf({ state, ...(state === 'read-only' && lagOf(lagMs)) });
  }

  /** Statements that ask where it is; undefined where that of the dialect does. */
  get positionSql(): HostFacts['positionSql'] {
    return this.#facts.positionSql;
  }

  /** Looks now, and in a rhythm from now on. */
  start(): Promise<void> {
    const look = (): Promise<void> =>
      this.look().finally(() => {
        if (!this.#closed) this.#timer = setTimeout(look, this.#options.lookMs ?? usualLookMs).unref();
      });
    return look();
  }

  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Asks where it is, for a read that waits for a position, or shares a question that `answers` it. */
  ask(position: string, answers: (other: string) => boolean, askPosition: () => Promise<string | null>) {
    const shared = this.#questions.find((question) => answers(question.position));
    const latest = this.#questions.length < maxQuestions ? undefined : this.#questions.at(-1);
    return (shared ?? latest ?? this.#begin(position, askPosition())).reached;
  }

  #begin(position: string, running: Promise<string | null>): Question {
    const reached = running.finally(() => this.#questions.splice(this.#questions.indexOf(question), 1));
    const question: Question = { position, reached };
    this.#questions.push(question);
    return question;
  }

  /** A read has failed there: it is not asked before it has answered a look. */
  failed(): void {
    if (this.#facts.state === 'away') return;
    this.#facts = { state: 'away' };
    this.#options.probe.reset();
    void this.look();
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.probe.reset();
    await this.#database?.close(graceMs);
  }

  async #lookOnce(): Promise<void> {
    const startedAt = performance.now();
    const facts = await askProbe(this.#options.probe);
    if (this.#closed) return;
    const isGone = facts.state !== 'read-only' && facts.state !== 'primary';
    this.#judge(facts);
    this.#writes = this.#takesOwnWrites(facts) ? this.#writes + 1 : 0;
    // At the first look it may have been promoted just now, and be followed by the next.
    if (this.#writes === 2) this.#log().error({ replica: this.#options.number }, writer);
    this.#reportSilent(facts);
    this.reached = facts.position ?? null;
    this.#lagMs = facts.state === 'primary' ? 0 : (this.#lag.lagOf(this.reached, startedAt) ?? facts.lag ?? 0);
    this.#facts = facts;
    if (!isGone) this.#reportLate();
    this.#tell(isGone);
    if (!isGone && this.#database === null) await this.#open();
  }

  /** Statements that wait for one that is gone would wait in vain, and so would those for connections that are tried seldom by now. */
  #tell(isGone: boolean): void {
    if (isGone !== this.#isGone) for (const changed of this.#listeners) changed(isGone ? 'gone' : 'found');
    this.#isGone = isGone;
  }

  /** Data of another cluster are never read, nor those of a history that ended. */
  #judge({ state, system, timeline, database }: HostFacts): void {
    const followed = this.#followed();
    const replica = this.#options.number;
    const isOther = differ(system, followed?.system);
    const isElsewhere = isOther || differ(database, followed?.database);
    if (isElsewhere && !this.#isForeign) this.#log().error({ replica }, isOther ? foreign : elsewhere);
    const isFormer = state === 'primary' && (timeline ?? 0) < (followed?.timeline ?? 0);
    if (isFormer && !this.#isFormer) this.#log().error({ replica }, former);
    this.#isForeign = isElsewhere;
    this.#isFormer = isFormer;
  }

  /** Servers that tell of no cluster are told apart by themselves alone. */
  #takesOwnWrites({ state, system, instance, isMulti }: HostFacts): boolean {
    const followed = this.#followed()?.instance;
    const isAlone = state === 'primary' && isMulti !== true && system === undefined;
    return isAlone && followed !== undefined && instance !== undefined && instance !== followed;
  }

  /** Logs once that it does not answer, until it does. */
  #reportSilent({ state, error }: HostFacts): void {
    const isSilent = state === 'away';
    const cause = error === undefined ? {} : { cause: describeCause(error) };
    if (isSilent && !this.#isSilent)
      this.#log().warn({ replica: this.#options.number, ...cause }, 'A replica does not answer.');
    this.#isSilent = isSilent;
  }

  /** Logs once that it lags too much, until it is well below that. */
  #reportLate(): void {
    const { maxLagMs, number } = this.#options;
    const isLate = this.#lagMs > (this.#isLate ? maxLagMs / 2 : maxLagMs);
    if (isLate && !this.#isLate) this.#log().warn({ replica: number, ...lagOf(this.#lagMs) }, late);
    if (!isLate && this.#isLate) this.#log().info({ replica: number }, 'A replica has caught up. It is asked again.');
    this.#isLate = isLate;
  }

  async #open(): Promise<void> {
    if (this.#opening) return;
    this.#opening = true;
    try {
      const database = await this.#options.open({
        isSettled: true,
        isTimedOut: false,
        listen: (changed) => void this.#listeners.push(changed),
        lost: () => void this.look(),
      });
      if (this.#closed) await database.close(0);
      else this.#database = database;
    } catch {
      // It is tried again at the next look.
    } finally {
      this.#opening = false;
    }
  }
}

/** True for two names that are known, and are not the same. */
function differ(name: string | undefined, other: string | undefined): boolean {
  return name !== undefined && other !== undefined && name !== other;
}

/** Lag as far as it is known. */
function lagOf(lagMs: number): Pick<HostReport, 'lag'> {
  return Number.isFinite(lagMs) ? { lag: Math.round(lagMs) } : {};
}
