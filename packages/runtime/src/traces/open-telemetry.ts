/** Provider of spans registered with OpenTelemetry before the start; only then is its package loaded. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Api from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import { inTime } from '../database/waits.ts';
import { EnvironmentError } from '../environment/values.ts';
import { platformVersion } from '../version.ts';

/** The API of OpenTelemetry with the tracer of a registered provider. */
export interface OpenTelemetry {
  readonly api: typeof Api;
  readonly tracer: Tracer;
  /** Has everything exported that was not yet. */
  flush(): Promise<void>;
}

/** Result of the look at the start: no provider, one that can be used, or the reason why it cannot. */
export type FoundProvider = OpenTelemetry | { readonly problem: string; readonly cause: unknown } | null;

/** Milliseconds that the module may take. */
const loadMs = 10_000;

/** Member of the global object in which every copy of the API, in its first major version, stores what is registered. */
const registry = Symbol.for('opentelemetry.js.api.1');

/**
 * Loads TRACES_MODULE, where it names one, and looks for a registered provider. Rejects with `EnvironmentError` when the
 * module does not lead to one, because a server that should have spans would have none.
 */
export async function loadProvider(path: string | null): Promise<FoundProvider> {
  if (path === null) return findProvider();
  if (!existsSync(path)) throw unusable('must be the path of a module: there is no such file.');
  try {
    await loadInTime(path);
  } catch (thrown) {
    const [line = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n');
    throw unusable(`cannot be loaded: ${line.replace(/\.?$/, '.')}`);
  }
  const provider = await findProvider();
  if (provider === null) throw unusable('must register a provider of spans: see `trace.setGlobalTracerProvider`.');
  if ('problem' in provider) throw unusable(`is of no use. ${provider.problem}`);
  return provider;
}

/** Node would end without a word if nothing but a module that waits were left. */
async function loadInTime(path: string): Promise<void> {
  const late = () => Promise.reject(new Error(`it is not done after ${loadMs / 1000} s`));
  await inTime(import(pathToFileURL(resolve(path)).href), loadMs, late);
}

function unusable(reason: string): EnvironmentError {
  return new EnvironmentError([{ variable: 'TRACES_MODULE', message: `TRACES_MODULE ${reason}` }]);
}

async function findProvider(): Promise<FoundProvider> {
  if (!Object.hasOwn(globalThis, registry)) return null;
  let api: typeof Api;
  try {
    api = await import('@opentelemetry/api');
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const problem = isMissing
      ? 'Nothing is traced: @opentelemetry/api is not installed where @tablewright/runtime finds it.'
      : 'Nothing is traced: @opentelemetry/api cannot be loaded.';
    return { problem, cause };
  }
  const proxy = api.trace.getTracerProvider();
  const provider = proxy instanceof api.ProxyTracerProvider ? proxy.getDelegate() : proxy;
  const tracer =
    proxy instanceof api.ProxyTracerProvider
      ? proxy.getDelegateTracer('tablewright', platformVersion())
      : proxy.getTracer('tablewright', platformVersion());
  if (tracer === undefined) return null;
  return {
    api,
    tracer,
    async flush() {
      if ('forceFlush' in provider && typeof provider.forceFlush === 'function') await provider.forceFlush();
    },
  };
}
