/** Metrics of what waits in the platform's own tables: mails, and contents of files that no row names. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { orphanCounter } from '../files/loose-files.ts';
import { mailCounter } from '../mail/outbox.ts';
import { gauge, type MetricValues } from '../operate/metrics/measured.ts';
import type { SystemPlace } from '../system/place.ts';

/** Milliseconds for which a count is kept, and for which a reader waits for the next one. */
const keptMs = 60_000;
const timeoutMs = 500;

/** Counts them when they are asked for, at most once a minute. */
export class WaitingMetrics {
  readonly #countMails: () => Promise<number>;
  readonly #countFiles: () => Promise<number>;
  #values: readonly MetricValues[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(database: Pick<Database, 'query'>, location: SystemPlace) {
    this.#countMails = mailCounter(database, location);
    this.#countFiles = orphanCounter(database, location);
  }

  /** The latest values; none while the tables cannot be read. */
  async read(): Promise<readonly MetricValues[]> {
    if (performance.now() - this.#readAt >= keptMs) {
      this.#reading ??= this.#count().finally(() => {
        this.#reading = null;
      });
      await Promise.race([this.#reading, sleep(timeoutMs, undefined, { ref: false })]);
    }
    return this.#values;
  }

  async #count(): Promise<void> {
    try {
      const [mails, files] = await Promise.all([this.#countMails(), this.#countFiles()]);
      // Every process counts the same.
      this.#values = [
        gauge('tablewright_mails_waiting', 'Mails to be sent.', [{ labels: {}, value: mails }], 'max'),
        gauge(
          'tablewright_orphaned_files',
          'Contents that no file names, and that should be gone.',
          [{ labels: {}, value: files }],
          'max',
        ),
      ];
      this.#readAt = performance.now();
    } catch {
      this.#values = [];
    }
  }
}
