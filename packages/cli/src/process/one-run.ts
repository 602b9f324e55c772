import { setFlagsFromString } from 'node:v8';

/**
 * Tells the engine that this process and its threads do their work once. Most of it is over before the slower of its
 * two optimizing compilers has paid for itself. That one took a fifth of the processor time of a first compilation.
 *
 * Not for servers, nor for processes that compile repeatedly.
 */
export function workOnce(): void {
  setFlagsFromString('--no-turbofan');
}

/** Tells the engine that the following work takes long. */
export function workLong(): void {
  setFlagsFromString('--turbofan');
}
