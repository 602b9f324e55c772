/** Metrics of the connections to the database. */
import { Counter, type CounterChild, gauge, Histogram, type HistogramChild, type MetricValues } from './measured.ts';

/** Hears of requests that waited for a connection. */
export interface PoolObserver {
  waited(ms: number): void;
  /** A request got none in time. */
  timedOut(): void;
}

/** Observer that counts nothing. */
export const unobserved: PoolObserver = { waited() {}, timedOut() {} };

export interface PoolLoad {
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  readonly waiting: number;
}

/** Counts waits, and tells of connections. */
export class PoolMetrics implements PoolObserver {
  readonly #waits = new Histogram(
    'db_client_connection_wait_time_seconds',
    'Time that requests waited for a connection to the database.',
  );
  readonly #timeouts = new Counter('db_client_connection_timeouts_total', 'Requests that got no connection in time.');
  readonly #wait: HistogramChild = this.#waits.child({});
  readonly #timeout: CounterChild = this.#timeouts.child({});

  waited(ms: number): void {
    this.#wait.observe(ms / 1000);
  }

  timedOut(): void {
    this.#timeout.value++;
  }

  /** Values of all metrics; none for a database without connections. */
  read(load: PoolLoad | undefined): readonly MetricValues[] {
    if (load === undefined) return [];
    const { used, idle, max, waiting } = load;
    return [
      gauge('db_client_connection_count', 'Connections to the database by their state.', [
        { labels: { state: 'used' }, value: used },
        { labels: { state: 'idle' }, value: idle },
      ]),
      gauge('db_client_connection_max', 'Connections that may be open.', [{ labels: {}, value: max }]),
      gauge('db_client_connection_pending_requests', 'Requests that wait for a connection.', [
        { labels: {}, value: waiting },
      ]),
      this.#waits.read(),
      this.#timeouts.read(),
    ];
  }
}
