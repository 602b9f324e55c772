/**
 * Explains how the server would handle a read, without a server or a database: the statement, or the reason of a
 * refusal.
 *
 * For people who build an API, never for its callers: a refusal names what is hidden.
 */
import type { Caller } from '../caller.ts';
import type { Parameter } from '../database/database.ts';
import { type ErrorCode, PlatformError } from '../errors.ts';
import type { ShapeField } from '../json/shape.ts';
import { type AccessClass, always, type CompiledApi } from '../language/index.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import { type ItemPath, readItemPath, splitTarget } from '../query/parse/target.ts';
import { createPlanner, type PlannedRead } from '../query/planner.ts';
import {
  everything,
  formatAbsent,
  formatMissing,
  leastOf,
  missingPermissions,
  unreachable,
  withPermissions,
} from './rights.ts';

/** Parts of an API that decide about reads. */
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
  /** Message that the caller would get. */
  readonly message: string;
  /** Reasons, in whole sentences. */
  readonly reasons: readonly string[];
}

interface ExplainReadOptions {
  /** Limits of requests. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** Asks the database for the rows of a read by key, and gives their number. Default: it is not asked whether there are any. */
  readonly countRows?: (planned: PlannedRead) => Promise<number>;
}

/** A read, who asks for it, and what it is judged by. */
interface ReadToExplain extends ExplainReadOptions {
  readonly api: ReadableApi;
  readonly target: string;
  readonly caller: Caller;
  readonly item: ItemPath;
}

/**
 * Plans `GET /items/articles?fields=id` for a caller, and asks the database for an item that is named by its key. Rejects with
 * `PlatformError` ROUTE_NOT_FOUND for a target that is no path of items.
 * @example
 * const caller = { accessClass: 'editor', user: null, role: null };
 * const explained = await explainRead(api, '/items/articles?fields=id', caller);
 * if (explained.kind === 'read') console.log(explained.statement);
 */
export async function explainRead(
  api: ReadableApi,
  target: string,
  caller: Caller,
  options: ExplainReadOptions = {},
): Promise<ExplainedRead | RefusedRead> {
  const item = itemOf(target);
  const requested: ReadToExplain = { ...options, api, target, caller, item };
  try {
    const planned = planRead(api, target, caller, options.limits);
    const { statement, many, fields } = planned.plan;
    if (item.key !== null && (await options.countRows?.(planned)) === 0)
      return refused(forbidden, await rowReasons(requested));
    const { collection } = item;
    const { parameters } = planned;
    return { kind: 'read', collection, statement: statement.text, parameters, many, answer: fields.flatMap(outline) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return refused(error, await reasonsFor(requested, error));
  }
}

/**
 * Plans the read of an item path. Throws as the planner does.
 * @example
 * const planned = planRead(api, '/items/articles?fields=id', { accessClass: 'editor', user: null, role: null });
 * console.log(planned.plan.statement.text);
 */
export function planRead(
  api: ReadableApi,
  target: string,
  caller: Caller,
  limits: Partial<ReadLimits> = {},
): PlannedRead {
  const { query } = splitTarget(target);
  const item = itemOf(target);
  const planner = createPlanner(api, { limits });
  const named = { name: item.collection };
  return item.key === null ? planner.list(caller, named, query) : planner.read(caller, named, item.key, query);
}

function outline({ key, shape }: ShapeField): readonly string[] {
  const inner = shape.kind === 'record' || shape.kind === 'records' ? shape.fields.flatMap(outline) : [];
  return [`${key}${shape.kind === 'records' ? '[]' : ''}`, ...inner.map((line) => `  ${line}`)];
}

function refused({ code, message }: PlatformError, reasons: readonly string[]): RefusedRead {
  return { kind: 'refused', code, message, reasons };
}

const forbidden = new PlatformError('FORBIDDEN');

function itemOf(target: string): ItemPath {
  const item = readItemPath(splitTarget(target).path);
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  return item;
}

async function reasonsFor(requested: ReadToExplain, error: PlatformError): Promise<readonly string[]> {
  const { api, target, caller, item } = requested;
  if (error.code === 'ROUTE_NOT_FOUND')
    return [`"${item.collection}" is a singleton: there is one object, without a key.`];
  if (error.code !== 'FORBIDDEN') return ['The request itself is wrong; rights have no part in it.'];
  const access = api.access.find(({ name }) => name === caller.accessClass);
  if (access === undefined || access.admin || !isAllowed(requested, target, everything(api)))
    return [absentReason(requested)];
  const lacking = missingPermissions(api, access, ['read']).filter(({ name }) => occurs(target, name));
  const needed = await leastOf(lacking, async (granted) =>
    isAllowed(requested, target, withPermissions(access, granted)),
  );
  return needed === null ? ['No rule of the role grants what the request names.'] : needed.map(formatMissing);
}

/** Reason why not even administrators are answered. */
function absentReason(requested: ReadToExplain): string {
  const { api, item } = requested;
  if (!api.collections.some(({ name }) => name === item.collection)) return formatAbsent(item.collection);
  const impossible = item.key === null ? null : unreachable(api, item.collection);
  if (impossible !== null) return impossible;
  const isKeyWrong = item.key !== null && isAllowed(requested, pathOf({ ...item, key: null }), everything(api));
  if (isKeyWrong && !isAllowed(requested, pathOf(item), everything(api)))
    return 'The key cannot be one of such an item.';
  const name = refusalOf(requested, requested.target, everything(api))?.missing;
  return `${name ?? 'A name in the request'} does not exist: administrators are refused, too.`;
}

/** Reason why an item that is named by its key is not among the rows that are read. */
async function rowReasons(requested: ReadToExplain): Promise<readonly string[]> {
  const { api, target, caller, item } = requested;
  const isThere = async (path: string, access: AccessClass): Promise<boolean> => {
    const planned = planRead(
      { ...api, access: [access] },
      path,
      { ...caller, accessClass: access.name },
      requested.limits,
    );
    return (await requested.countRows?.(planned)) !== 0;
  };
  if (!(await isThere(pathOf(item), everything(api))))
    return ['There is no such item: administrators are refused, too.'];
  const access = api.access.find(({ name }) => name === caller.accessClass);
  const rules = access?.collections.find(({ collection }) => collection === item.collection)?.read ?? [];
  const reasons: string[] = [];
  for (const index of rules.keys()) {
    if (access?.admin !== false || !(await isThere(target, widened(access, item.collection, index)))) continue;
    reasons.push(`Rule ${index + 1} for reading ${item.collection} would grant it, but does not reach the row.`);
  }
  return reasons.length > 0 ? reasons : ['The filter of the request does not hold for the item.'];
}

/** The access class as if one rule for reading a collection reached every row. */
function widened(access: AccessClass, collection: string, index: number): AccessClass {
  const collections = access.collections.map((entry) =>
    entry.collection === collection
      ? {
          ...entry,
          read: entry.read?.map((rule, position) => (position === index ? { ...rule, where: always } : rule)) ?? [],
        }
      : entry,
  );
  return { ...access, collections };
}

function pathOf({ collection, key }: ItemPath): string {
  return `/items/${encodeURIComponent(collection)}${key === null ? '' : `/${key}`}`;
}

/** A collection can be meant by a relation, so any of them may be the one that is lacking. */
function occurs(target: string, name: string): boolean {
  return name === '' || decodeURIComponent(target.replaceAll('+', ' ')).includes(name);
}

function isAllowed(requested: ReadToExplain, target: string, access: AccessClass): boolean {
  return refusalOf(requested, target, access)?.code !== 'FORBIDDEN';
}

/** The error of a request under the rules of an access class; undefined where it is answered. */
function refusalOf(
  { api, caller, limits }: ReadToExplain,
  target: string,
  access: AccessClass,
): PlatformError | undefined {
  try {
    planRead({ ...api, access: [access] }, target, { ...caller, accessClass: access.name }, limits);
    return undefined;
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
}
