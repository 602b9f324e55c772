/** Spans of hooks. Source: operations notes, section 2. */
import { errorTypeOf } from '../database/observed.ts';
import type { RegisteredHook } from '../language/index.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import type { RequestSpans } from './request-spans.ts';

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
