/** Looks at something again and again: in a rhythm, and whenever the database tells of a change; one at a time. */
import type { Listener } from '../dialects/server-dialect.ts';
import { describeCause, type Log } from '../operate/log.ts';

/** Sources of changes beside the looks in a rhythm. */
export interface Hearings {
  /** Hears of changes until it is closed; those that this process makes itself are `isOwn`. */
  readonly listen?: (heard: (isOwn: boolean) => void) => Listener;
  /** Asks whether there was a change, where nothing is heard of them. Absent where no other process makes any. */
  readonly hasChanged?: () => Promise<boolean>;
}

const unreadable =
  'The tables of the model cannot be read. Collections, roles and rules stay as they are served, and changes of them by other processes are not seen. The next log line about this says when they are read again.';
const readableAgain = 'The tables of the model can be read again: changes of them are served.';

/** Milliseconds between two looks: others follow within five seconds, and compiling takes a part of that. */
const lookEvery = 2_000;
/** Milliseconds between two questions for a change where none is heard of: compiling has the rest of half a second. */
const askEvery = 100;
/** Milliseconds from a change of this process, which hears of it before it serves it, to the look. */
const ownMs = 50;

/** Makes looks by a function; that it fails, and that it no longer does, is logged once. */
export class Looks {
  readonly #lookOnce: () => Promise<void>;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  #looking: Promise<void> | null = null;
  #again = false;
  #isBlind = false;
  #timer: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #listener: Listener | undefined;
  #stopped = false;

  constructor(lookOnce: () => Promise<void>, log: Pick<Log, 'info' | 'warn'>) {
    this.#lookOnce = lookOnce;
    this.#log = log;
  }

  /** Looks now, or once more after the look that is under way. Never rejects. */
  look(): Promise<void> {
    this.#again = this.#looking !== null;
    this.#looking ??= this.#lookAll();
    return this.#looking;
  }

  /** Looks from now on every two seconds, and shortly after each change that is heard of or asked for. */
  start({ listen, hasChanged }: Hearings): void {
    this.#lookInRhythm();
    if (hasChanged !== undefined) this.#askInRhythm(hasChanged);
    this.#listener = listen?.((isOwn) => void setTimeout(() => void this.look(), isOwn ? ownMs : 0).unref());
  }

  /** Resolves when no look is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#asking);
    await this.#listener?.close();
    await this.#looking;
  }

  #reportVisibility(error: unknown): void {
    const wasBlind = this.#isBlind;
    this.#isBlind = error !== null;
    if (this.#stopped || this.#isBlind === wasBlind) return;
    if (this.#isBlind) this.#log.warn({ cause: describeCause(error) }, unreadable);
    else this.#log.info({}, readableAgain);
  }

  async #lookAll(): Promise<void> {
    do {
      this.#again = false;
      await this.#lookOnce().then(
        () => this.#reportVisibility(null),
        (error: unknown) => this.#reportVisibility(error),
      );
    } while (this.#again && !this.#stopped);
    // At once: a change that is heard of from now on is for another look.
    this.#looking = null;
  }

  #lookInRhythm(): void {
    this.#timer = setTimeout(
      () => void this.look().finally(() => this.#stopped || this.#lookInRhythm()),
      lookEvery,
    ).unref();
  }

  /** Asks also while a look is under way: it may have begun before the change, and is followed by another one. */
  #askInRhythm(hasChanged: () => Promise<boolean>): void {
    const ask = async (): Promise<void> => {
      // Failures are those of the looks, which tell of them.
      const changed = this.#listener?.isHeard === true ? null : await hasChanged().catch(() => null);
      // A look that has failed is made up for.
      if (changed === true || (changed === false && this.#isBlind && this.#looking === null)) void this.look();
      if (!this.#stopped) this.#askInRhythm(hasChanged);
    };
    this.#asking = setTimeout(ask, askEvery).unref();
  }
}
