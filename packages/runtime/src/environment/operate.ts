/** Variables of the log, metrics and slow statements. Source: operations notes, sections 1, 3 and 5. */
import { type Read, type Reading, readChoice, readDuration } from './values.ts';

/** How much of a client's address lines of the log name. */
export const addressForms = ['none', 'network', 'full'] as const;

/** Settings of the log, of metrics and of slow statements. */
export interface OperateEnvironment {
  readonly accessLog: AccessLog;
  readonly logAddresses: (typeof addressForms)[number];
  /** Milliseconds from which a statement, or a request, is slow; 0: none is. */
  readonly slowQuery: number;
}

/** Reads the variables. */
export function readOperate(read: Read): OperateEnvironment {
  return {
    accessLog: read<AccessLog>('ACCESS_LOG', readAccessLog, 'errors'),
    logAddresses: read('LOG_ADDRESSES', readChoice(addressForms), 'network'),
    slowQuery: read('SLOW_QUERY', readSlowQuery, 500),
  };
}

function readAccessLog(text: string): Reading<AccessLog> {
  if (text === 'off' || text === 'errors') return { value: text };
  const share = text === 'all' ? 1 : /^(?:0?\.\d{1,9}|1)$/.test(text) ? Number(text) : 0;
  return share > 0 ? { value: share } : { problem: 'must be "off", "errors", "all" or a share such as "0.05".' };
}

function readSlowQuery(text: string): Reading<number> {
  return text === '0' ? { value: 0 } : readDuration(text);
}

/** Requests that get a line: none; failed, limited and slow ones; or these and a share of the others. */
export type AccessLog = 'off' | 'errors' | number;
