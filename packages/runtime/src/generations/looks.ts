/** Looks at something again and again: in a rhythm, and whenever the database tells of a change; one at a time. */
import type { Listener } from '../dialects/server-dialect.ts';
import { describeCause, type Log } from '../operate/log.ts';

/** Sources of changes beside the looks in a rhythm. */
export interface Hearings {
  /** Hears of changes until it is closed. */
  readonly listen?: (heard: () => void) => Listener;
  /** Asks whether there was a change, where nothing is heard of them. Absent where no other process makes any. */
  readonly hasChanged?: () => Promise<boolean>;
}

/** Looks, one after the other. */
export interface Looks {
  /** Looks now, or once more after the look that is under way. Never rejects. */
  look(): Promise<void>;
  /** Looks from now on every two seconds, and shortly after each change that is heard of or asked for. */
  start(hearings: Hearings): void;
  /** Resolves when no look is under way. */
  stop(): Promise<void>;
}

const unreadable =
  'The tables of the model cannot be read. Collections, roles and rules stay as they are served, and changes of them by other processes are not seen. The next log line about this says when they are read again.';
const readableAgain = 'The tables of the model can be read again: changes of them are served.';

/** Milliseconds between two looks: others follow within five seconds, and compiling takes a part of that. */
const lookEvery = 2_000;
/** Milliseconds between two questions for a change where none is heard of: a right that was withdrawn is gone in half a second. */
const askEvery = 250;
/** Milliseconds from a change that is heard of to the look. */
const hearingMs = 50;

/** Makes looks by a function; that it fails, and that it no longer does, is logged once. */
export function createLooks(lookOnce: () => Promise<void>, log: Pick<Log, 'info' | 'warn'>): Looks {
  let looking: Promise<void> | null = null;
  let again = false;
  let isBlind = false;
  let timer: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  let listener: Listener | undefined;
  let stopped = false;

  function reportVisibility(error: unknown): void {
    const wasBlind = isBlind;
    isBlind = error !== null;
    if (stopped || isBlind === wasBlind) return;
    if (isBlind) log.warn({ cause: describeCause(error) }, unreadable);
    else log.info({}, readableAgain);
  }

  async function lookAll(): Promise<void> {
    do {
      again = false;
      await lookOnce().then(
        () => reportVisibility(null),
        (error: unknown) => reportVisibility(error),
      );
    } while (again && !stopped);
  }

  function look(): Promise<void> {
    again = looking !== null;
    looking ??= lookAll().finally(() => {
      looking = null;
    });
    return looking;
  }

  function lookInRhythm(): void {
    timer = setTimeout(() => void look().finally(() => stopped || lookInRhythm()), lookEvery).unref();
  }

  function askInRhythm(hasChanged: () => Promise<boolean>): void {
    const again = (): void => {
      if (!stopped) askInRhythm(hasChanged);
    };
    asking = setTimeout(() => {
      if (listener?.isHeard === true) again();
      // Failures are those of the looks, which tell of them.
      else
        void hasChanged()
          .then(
            // A look that has failed is made up for.
            (changed) => (changed || isBlind ? look() : undefined),
            () => {},
          )
          .finally(again);
    }, askEvery).unref();
  }

  return {
    look,
    start({ listen, hasChanged }) {
      lookInRhythm();
      if (hasChanged !== undefined) askInRhythm(hasChanged);
      listener = listen?.(() => void setTimeout(() => void look(), hearingMs).unref());
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(asking);
      await listener?.close();
      await looking;
    },
  };
}
