/** Spans of one process: parts of a server are wrapped where an OpenTelemetry provider was registered before. */

import { inTime } from '../database/waits.ts';
import { sqlDialects } from '../dialects/index.ts';
import { createUncounted } from '../language/values/bounded-cache.ts';
import { StatementSpans, traceHooks, tracePlans } from '../traces/inner-spans.ts';
import type { OpenTelemetry } from '../traces/open-telemetry.ts';
import { RequestSpans } from '../traces/request-spans.ts';
import type { Instruments } from './instruments.ts';

export function traceInstruments(instruments: Instruments, telemetry: OpenTelemetry): Instruments {
  const { observers = [], wrap = (pass) => pass } = instruments.listener;
  const requests = new RequestSpans(telemetry);
  return {
    ...instruments,
    listener: {
      observers: [...observers, requests.end],
      wrap: (pass, responder) => requests.wrap(wrap(pass, responder)),
    },
    database(database, dialect, others) {
      const tracer = new StatementSpans(telemetry, requests, sqlDialects[dialect].systemName);
      return instruments.database(database, dialect, { ...others, tracer });
    },
    serves(api) {
      requests.addCollections(api.collections.map(({ name }) => name));
      const others = instruments.serves(api);
      const createCache = tracePlans(others.createCache ?? createUncounted, telemetry, requests);
      return { ...others, createCache, observeHook: traceHooks(telemetry, requests) };
    },
    async flush(ms) {
      // A collector that does not answer delays the end no longer than that.
      await inTime(telemetry.flush(), ms, () => {}).catch(() => {});
    },
  };
}
