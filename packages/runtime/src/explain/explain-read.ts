/**
 * What the server would do with a read, without a server or a database: the statement, or the reason of a refusal.
 *
 * For people who build an API, never for its callers: a refusal names what is hidden.
 */
import type { Caller } from '../caller.ts';
import type { AccessClass, CompiledApi } from '../contract/index.ts';
import type { Parameter } from '../database/database.ts';
import { type ErrorCode, PlatformError } from '../errors.ts';
import { readItemPath, splitTarget } from '../http/target.ts';
import type { ShapeField } from '../query/plan.ts';
import { createPlanner, type PlannedRead } from '../query/planner.ts';
import { everything, lackingRights, leastOf, tellLacking, withRights } from './rights.ts';

/** What of an API decides about reads. */
export type ReadableApi = Pick<CompiledApi, 'collections' | 'access' | 'dialect'>;

/** A read that is answered by one statement. */
export interface ExplainedRead {
  readonly kind: 'read';
  readonly collection: string;
  readonly statement: string;
  /** In the order of `$1`, `$2` …, in text form. */
  readonly parameters: readonly Parameter[];
  /** False for one item. */
  readonly many: boolean;
  /** Names of the answer, one per line, indented by depth. */
  readonly answer: readonly string[];
}

/** A read that is refused. */
export interface RefusedRead {
  readonly kind: 'refused';
  readonly code: ErrorCode;
  /** What the caller is told. */
  readonly message: string;
  /** Why, in whole sentences. */
  readonly reasons: readonly string[];
}

/**
 * Plans `GET /items/articles?fields=id` for a caller. Rejects with `PlatformError` ROUTE_NOT_FOUND for a target that is no path
 * of items.
 */
export async function explainRead(
  api: ReadableApi,
  target: string,
  caller: Caller,
): Promise<ExplainedRead | RefusedRead> {
  const { path } = splitTarget(target);
  const item = readItemPath(path);
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  try {
    const { plan, parameters } = planRead(api, target, caller);
    const { statement, many, fields } = plan;
    const { collection } = item;
    return { kind: 'read', collection, statement: statement.text, parameters, many, answer: fields.flatMap(outline) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return {
      kind: 'refused',
      code: error.code,
      message: error.message,
      reasons: await reasonsFor(api, target, caller, error),
    };
  }
}

/** Plans the read of an item path. Throws as the planner does. */
export function planRead(api: ReadableApi, target: string, caller: Caller): PlannedRead {
  const { path, query } = splitTarget(target);
  const item = readItemPath(path);
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  const planner = createPlanner(api, { plans: 1 });
  const named = { name: item.collection };
  return item.key === null ? planner.list(caller, named, query) : planner.read(caller, named, item.key, query);
}

function outline({ key, shape }: ShapeField): readonly string[] {
  const inner = shape.kind === 'record' || shape.kind === 'records' ? shape.fields.flatMap(outline) : [];
  return [`${key}${shape.kind === 'records' ? '[]' : ''}`, ...inner.map((line) => `  ${line}`)];
}

async function reasonsFor(
  api: ReadableApi,
  target: string,
  caller: Caller,
  error: PlatformError,
): Promise<readonly string[]> {
  if (error.code !== 'FORBIDDEN') return ['The request itself is wrong; rights have no part in it.'];
  const access = api.access.find(({ name }) => name === caller.accessClass);
  if (access === undefined || access.admin || !isAllowed(api, target, caller, everything(api))) {
    return ['A name in the request does not exist: administrators are refused, too.'];
  }
  const lacking = lackingRights(api, access, ['read']).filter(({ name }) => occurs(target, name));
  const needed = await leastOf(lacking, async (granted) => isAllowed(api, target, caller, withRights(access, granted)));
  return needed === null ? ['No rule of the role grants what the request names.'] : needed.map(tellLacking);
}

/** A collection can be meant by a relation, so any of them may be the one that is lacking. */
function occurs(target: string, name: string): boolean {
  return name === '' || decodeURIComponent(target.replaceAll('+', ' ')).includes(name);
}

function isAllowed(api: ReadableApi, target: string, caller: Caller, access: AccessClass): boolean {
  try {
    planRead({ ...api, access: [access] }, target, { ...caller, accessClass: access.name });
    return true;
  } catch (error) {
    if (error instanceof PlatformError) return error.code !== 'FORBIDDEN';
    throw error;
  }
}
