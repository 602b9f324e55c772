/** Variables of the log, metrics, traces and slow statements. Source: operations notes, sections 1, 2, 3 and 5. */
import { readStaticToken } from './secrets.ts';
import { type Read, type Reading, readChoice, readDurationOrZero, readHost, readInteger, readText } from './values.ts';

/** Requests that get a line: none; failed, limited and slow ones; or these and a share of the others. */
export type AccessLog = 'off' | 'errors' | number;

/** Parts of a client's address that lines of the log name. */
const addressForms = ['none', 'network', 'full'] as const;

/** Settings of the log, of metrics and of slow statements. */
export type OperateEnvironment = ReturnType<typeof readOperate>;

export function readOperate(read: Read) {
  return {
    accessLog: read<AccessLog>('ACCESS_LOG', readAccessLog, 'errors'),
    logAddresses: read('LOG_ADDRESSES', readChoice(addressForms), 'network'),
    /** Milliseconds from which a statement, or a request, is slow; 0: none is. */
    slowQuery: read('SLOW_QUERY', readDurationOrZero, 500),
    /** Settings of metrics. Without a port and a token nothing is counted. */
    metrics: {
      host: read('METRICS_HOST', readHost, '127.0.0.1'),
      /** Port of a listener of its own; 0 lets the system choose, null: there is none. */
      port: read<number | null>('METRICS_PORT', readInteger(0, 65_535), null),
      /** Token for `GET /metrics` on the public port; null: there is no such path. */
      token: read<string | null>('METRICS_TOKEN', readStaticToken(16), null),
      /** Series at most that name a collection. */
      seriesMax: read('METRICS_SERIES_MAX', readInteger(0), 5000),
    },
    /** Path of a module that registers a provider of spans; null: none is loaded. */
    tracesModule: read<string | null>('TRACES_MODULE', readText, null),
  } as const;
}

function readAccessLog(text: string): Reading<AccessLog> {
  if (text === 'off' || text === 'errors') return { value: text };
  const share = text === 'all' ? 1 : /^(?:0?\.\d{1,9}|1)$/.test(text) ? Number(text) : 0;
  return share > 0 ? { value: share } : { problem: 'must be "off", "errors", "all" or a share such as "0.05".' };
}
