/** Spans of plans, by the look-ups in their caches, and of hooks. Source: operations notes, section 2. */
import { errorTypeOf } from '../database/observed.ts';
import type { CacheName, CreatePlanCache, PlanCache } from '../database/plan-cache.ts';
import type { RegisteredHook } from '../language/index.ts';
import { currentRecord, type RequestRecord } from '../operate/request-record.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import type { RequestSpans } from './request-spans.ts';

/** Caches by the text of a request; what is not found there is looked up by its form in one of the others. */
const byText: ReadonlySet<CacheName> = new Set(['read_templates', 'graphql']);

/** Beginning of a plan. */
interface Begun {
  readonly record: RequestRecord | undefined;
  readonly startedAt: number;
}

/** Makes caches whose look-ups have a span: it ends when the plan was found, or made. Planning never waits. */
export function tracePlans(
  createCache: CreatePlanCache,
  { api, tracer }: OpenTelemetry,
  requests: Pick<RequestSpans, 'parent'>,
): CreatePlanCache {
  let begun: Begun | undefined;

  function write(cache: CacheName, result: 'hit' | 'miss', startedAt: number): void {
    const parent = requests.parent();
    if (parent === undefined) return;
    const attributes = { 'tablewright.plan.cache': cache, 'tablewright.plan.result': result };
    const startTime = parent.origin + startedAt;
    const span = tracer.startSpan('plan', { startTime, kind: api.SpanKind.INTERNAL, attributes }, parent.context);
    span.end(parent.origin + performance.now());
  }

  /** When the running request began to plan: by its text, where it was not found by that. */
  function beginning(now: number): number {
    const since = begun?.record === currentRecord() ? begun?.startedAt : undefined;
    begun = undefined;
    return since ?? now;
  }

  return <Value>(name: CacheName | null): PlanCache<Value> => {
    const cache = createCache<Value>(name);
    if (name === null) return cache;
    let missed: { readonly key: string; readonly startedAt: number } | undefined;
    return {
      get(key) {
        const now = performance.now();
        const found = cache.get(key);
        if (byText.has(name)) {
          begun = { record: currentRecord(), startedAt: now };
          if (found !== undefined) write(name, 'hit', now);
          return found;
        }
        const startedAt = beginning(now);
        if (found === undefined) missed = { key, startedAt };
        else write(name, 'hit', startedAt);
        return found;
      },
      set(key, value) {
        cache.set(key, value);
        if (missed?.key === key) write(name, 'miss', missed.startedAt);
        missed = undefined;
      },
    };
  };
}

/** Makes the function that gives a hook a span for each run; what the hook does is below it. */
export function traceHooks(
  { api, tracer }: OpenTelemetry,
  requests: Pick<RequestSpans, 'parent'>,
): (hook: RegisteredHook) => RegisteredHook {
  return (hook) => ({
    ...hook,
    run(event) {
      const parent = requests.parent();
      if (parent === undefined) return hook.run(event);
      const options = {
        kind: api.SpanKind.INTERNAL,
        startTime: parent.origin + performance.now(),
        attributes: { 'tablewright.hook.stage': hook.stage, 'tablewright.hook.event': hook.event },
      };
      const span = tracer.startSpan(`hook ${hook.stage} ${hook.event}`, options, parent.context);
      const ended = (): void => span.end(parent.origin + performance.now());
      const failed = (error: unknown): void => {
        span.setAttribute('error.type', errorTypeOf(error));
        // Texts of errors may quote values.
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        ended();
      };
      try {
        const running = api.context.with(api.trace.setSpan(parent.context, span), () => hook.run(event));
        if (running instanceof Promise) running.then(ended, failed);
        else ended();
        return running;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  });
}
