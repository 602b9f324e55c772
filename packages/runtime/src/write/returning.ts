/** The answer of a write: a planned read of what was written. Source: API specification, sections 1.2 and 5.1. */
import type { Caller } from '../caller.ts';
import type { Parameter, Statement } from '../database/database.ts';
import { runAs } from '../database/row-context.ts';
import { forbidden, invalidQuery, PlatformError } from '../errors.ts';
import type { BoundedCache } from '../language/values/bounded-cache.ts';
import { parseQueryString, type QueryTree } from '../query/parse/parse-query-string.ts';
import { parseKeyRequest, parseListRequest } from '../query/parse/parse-read.ts';
import type { ReadLimits, ReadRequest } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { boundValues } from '../query/plan/plan-bounds.ts';
import { bind, type PlannedRead } from '../query/planner.ts';
import { checkReadSyntax, prepareRead } from '../query/prepare.ts';
import type { Prepared, RequestedRead } from '../query/prepared.ts';
import type { WriteScope } from './access/scope.ts';
import { asMany, type Keys } from './decode/keys.ts';

/** The form of an answer: one item, an array in the order of the keys, or the item of a singleton. */
export type ReturningForm = 'one' | 'many' | 'singleton';

/** A read that waits for the keys of what was written. */
export interface Returning {
  readonly plan: ReadPlan;
  /** Statement of the plan as one of the caller. */
  readonly statement: Statement;
  readonly many: boolean;
  /** True if it needs no parameters but the keys. */
  readonly bare: boolean;
  parameters(keys: Keys): readonly Parameter[];
}

/** Input of `prepareEcho`. */
interface ReturningRequest {
  readonly scope: WriteScope;
  readonly caller: Caller;
  readonly collection: string;
  /** Raw text of the address after the question mark. */
  readonly query: string;
  readonly form: ReturningForm;
  readonly limits: ReadLimits;
  readonly plans: BoundedCache<ReadPlan>;
  /** Prepared answers by the exact text of what was asked. */
  readonly texts: BoundedCache<PreparedReturning>;
  /** Takes what is wrong with values of the query: names of the body are judged before. */
  readonly reportError: (error: PlatformError) => void;
}

/** An answer without the caller: null when there is nothing to read. */
export interface PreparedReturning {
  readonly plan: ReadPlan | null;
  /** Values of the request in front of the keys, and after them. */
  readonly values: readonly string[];
  readonly bounds: readonly string[];
}

/** Queries longer than this are prepared every time. */
const longestCachedText = 2_048;

/** Prepares the answer, so that errors come before writes; null when the caller may read nothing and named nothing. */
export function prepareReturning(requested: ReturningRequest): Returning | null {
  const { collection, query, form, texts } = requested;
  // The length keeps a name with a space in it from running into the query.
  const text = `${form} ${collection.length} ${collection} ${query}`;
  const cached = texts.get(text);
  const prepared = cached ?? prepareText(requested);
  if (prepared === null) return null;
  if (cached === undefined && query.length <= longestCachedText) texts.set(text, prepared);
  const { plan, values, bounds } = prepared;
  if (plan === null) return null;
  return {
    plan,
    statement: runAs(plan.statement, requested.caller),
    many: form === 'many',
    bare: values.length === 0 && bounds.length === 0,
    parameters: (written) => {
      const keys = form === 'one' ? written.values : asMany(written).values;
      return bind(plan.binders, [...values, ...keys, ...bounds], requested.caller);
    },
  };
}

/** Returns null where values of the query are wrong; `reportError` has received the error. */
function prepareText({
  scope,
  collection,
  query,
  form,
  limits,
  plans,
  reportError,
}: ReturningRequest): PreparedReturning | null {
  const tree = new Map(parseQueryString(query, limits));
  tree.delete('export');
  const request = parseReturning(tree, form, limits);
  const readable = scope.read.collections.get(collection);
  if (readable === undefined) {
    if (namesSomething(tree, request)) throw forbidden();
    return { plan: null, values: [], bounds: [] };
  }
  const selector = form === 'one' ? 'key' : 'written';
  const parts = form === 'one' ? [] : readable.descriptor.key.map(() => '');
  const keys = () => ({ values: parts, count: parts.length });
  const requested = { scope: scope.read, limits, selector, collection, request, keys } as const;
  const prepared = prepareOr(plans, requested, reportError);
  if (prepared === null) return null;
  const { plan, values } = prepared;
  const bounds = form === 'one' ? [] : boundValues(request);
  return { plan, values: values.slice(0, values.length - parts.length - bounds.length), bounds };
}

/** Prepares the read of GET at the address of a singleton; null when the caller may read nothing, or values are wrong. */
export function prepareSingletonRead({
  scope,
  caller,
  collection,
  query,
  limits,
  plans,
  reportError,
}: Omit<ReturningRequest, 'form' | 'texts'>): Pick<PlannedRead, 'plan' | 'statement' | 'parameters'> | null {
  if (!scope.read.collections.has(collection)) return null;
  const tree = new Map(parseQueryString(query, limits));
  tree.delete('export');
  const request = parseListRequest(tree, limits);
  const requested = { scope: scope.read, limits, selector: 'list', collection, request } as const;
  const prepared = prepareOr(plans, requested, reportError);
  if (prepared === null) return null;
  const { plan, values } = prepared;
  return { plan, statement: runAs(plan.statement, caller), parameters: bind(plan.binders, values, caller) };
}

function prepareOr(
  plans: BoundedCache<ReadPlan>,
  requested: RequestedRead,
  reportError: ReturningRequest['reportError'],
): Prepared | null {
  try {
    return prepareRead(plans, requested);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'INVALID_QUERY') throw error;
    checkReadSyntax(requested);
    reportError(error);
    return null;
  }
}

/** Everything that was written is answered, unless the request wants less. */
function parseReturning(tree: QueryTree, form: ReturningForm, limits: ReadLimits): ReadRequest {
  if (form !== 'many') return { ...parseKeyRequest(tree, limits), limit: -1 };
  const request = parseListRequest(tree, limits);
  if (request.aggregate !== undefined) throw invalidQuery('"aggregate" is for lists.');
  return tree.has('limit') ? request : { ...request, limit: -1 };
}

function namesSomething(tree: QueryTree, { fields }: ReadRequest): boolean {
  if (fields.flat().some((name) => name !== '*')) return true;
  return ['filter', 'sort', 'alias', 'deep'].some((name) => tree.has(name));
}
