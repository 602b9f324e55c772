/** Explains the call of a function: its statement, and the arguments that the server sets. */
import type { Caller } from '../caller.ts';
import type { Parameter } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { argumentsIn, functionNamed, planGet } from '../functions/read-call.ts';
import { createFunctions } from '../functions/service.ts';
import type { CompiledApi, FunctionAccess, JsonValue } from '../language/index.ts';
import { defaultReadLimits } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import { splitTarget } from '../query/parse/target.ts';
import { createPlanner } from '../query/planner.ts';
import type { RefusedRead } from './explain-read.ts';

/** A call that is answered by one statement. */
export interface ExplainedCall {
  readonly kind: 'call';
  readonly function: string;
  /** Collection whose items it returns, under the rules for reading it; null for any other result. */
  readonly collection: string | null;
  /** Arguments that the server sets. */
  readonly args: NonNullable<FunctionAccess['args']>;
  readonly statement: string;
  readonly parameters: readonly Parameter[];
}

/** Call to explain: `body` is that of a POST. */
export interface CallToExplain {
  readonly method: string;
  readonly target: string;
  readonly body: JsonValue | undefined;
}

/**
 * Plans a call for a caller.
 * @example
 * const caller = { accessClass: 'editor', user: null, role: null };
 * const explained = explainCall(api, { method: 'GET', target: '/functions/shop_count', body: undefined }, caller);
 */
export function explainCall(
  api: CompiledApi,
  { method, target, body }: CallToExplain,
  caller: Caller,
  bounds: Partial<ReadLimits> = {},
): ExplainedCall | RefusedRead {
  const limits = { ...defaultReadLimits, ...bounds };
  const planner = createPlanner(api, { limits });
  const functions = createFunctions({ api, planner, writer: { returning: () => null }, limits });
  const { path, query } = splitTarget(target);
  const name = functionNamed(path) ?? '';
  const found = functions.find(caller, name);
  const reads = method === 'GET';
  if (found === undefined || found.descriptor.reads !== reads) {
    const isThere = api.functions?.find((called) => called.name === name);
    const reason =
      isThere === undefined
        ? `There is no function "${name}".`
        : found === undefined
          ? `The role has no right to call "${name}", or a value of the caller that it needs is not there.`
          : `"${name}" ${isThere.reads ? 'only reads: GET calls it' : 'changes something: POST calls it'}.`;
    const { code, message } = new PlatformError('ROUTE_NOT_FOUND');
    return { kind: 'refused', code, message, reasons: [reason] };
  }
  const { returns } = found.descriptor;
  try {
    const values = new Map(Object.entries(argumentsIn(body)));
    const { statement, parameters } = reads
      ? readStatement(planGet(functions, caller, found, query, limits))
      : functions.plan(caller, found, { values, text: false });
    return {
      kind: 'call',
      function: name,
      collection: returns.kind === 'items' ? returns.collection : null,
      args: found.access.args ?? [],
      statement: statement.text,
      parameters,
    };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { code, message } = error;
    const reason = code === 'FORBIDDEN' ? 'A name of the query is hidden, or does not exist.' : 'The request is wrong.';
    return { kind: 'refused', code, message, reasons: [reason] };
  }
}

function readStatement({ plan, parameters }: ReturnType<typeof planGet>) {
  return { statement: plan.statement, parameters };
}
