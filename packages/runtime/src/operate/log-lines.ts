/**
 * Lines of the log on the standard output. Those of requests are gathered for a moment: for a busy server a write costs more
 * than all else about a line. All others are written at once, after those that came before.
 */
import { writeSync } from 'node:fs';

const standardOutput = 1;
/** So many bytes reach a pipe in one piece, where other processes write to it; letters stand for them, of which few take more. */
const maxLength = process.send === undefined ? 65_536 : 4_096;
/** Milliseconds that a line waits at most. */
const delayMs = 10;
/** Milliseconds until a full pipe is tried again. */
const pauseMs = 5;

/** Where the lines of a process go. */
class LogLines {
  #lines = '';
  #timer: NodeJS.Timeout | undefined;
  #isFirst = true;

  /** Writes a line with its end. */
  write(line: string): void {
    this.gather(line);
    this.flushSync();
  }

  /** Takes a line that may wait. */
  gather(line: string): void {
    if (this.#isFirst) {
      this.#isFirst = false;
      process.once('exit', () => this.flushSync());
    }
    if (this.#lines.length + line.length > maxLength) this.flushSync();
    this.#lines += line;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flushSync();
    }, delayMs).unref();
  }

  /** Writes what was taken. */
  flushSync(): void {
    if (this.#lines === '') return;
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(standardOutput, bytes, written);
      } catch (error) {
        // A log that nothing reads any more, or that finds no room, is no reason to answer no requests.
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
      }
    }
  }
}

/** The lines of this process. */
export const logLines = new LogLines();
