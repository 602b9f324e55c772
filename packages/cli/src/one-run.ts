import { setFlagsFromString } from 'node:v8';

/**
 * Tells the engine that this process and its threads do their work once, of which most is over before the slower of its two
 * optimizing compilers has paid for itself: it took a fifth of the processor time of a first compilation.
 *
 * Not for servers, nor for what compiles again and again.
 */
export function workOnce(): void {
  setFlagsFromString('--no-turbofan');
}

/** Tells it that what comes now takes long. */
export function workLong(): void {
  setFlagsFromString('--turbofan');
}
