/** One try of a write in the name of an access class, of which nothing stays. */
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { sqlDialects } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import { parseBodyText } from '../json/body.ts';
import type { AccessClass, CompiledApi, JsonValue } from '../language/index.ts';
import { readItemPath, splitTarget } from '../query/parse/target.ts';
import { createPlanner } from '../query/planner.ts';
import { createSystemWrites } from '../resources/system-writes.ts';
import type { WriteCommand } from '../write/write-command.ts';
import { createWriter, type Writer, type WriterOptions } from '../write/writer.ts';
import { type DryRun, rolledBackDryRun, type SentStatement, silentDryRun, Unanswered } from './dry-run.ts';

/** A request that writes items. */
export interface WriteToExplain {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** `/items/articles/1?fields=id` */
  readonly target: string;
  /** Text of the body; empty for none. */
  readonly body: string;
}

/** Action of each method. */
export const actions = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const;

/** A write with everything that decides about it. */
export interface ExplainedRequest {
  readonly api: CompiledApi;
  readonly write: WriteToExplain;
  readonly caller: Caller;
  /** Null: statements get no answer. */
  readonly database: Pick<Database, 'transaction'> | null;
  /** Limits of requests. Default: those of the API specification, section 16. */
  readonly limits?: WriteLimits;
}

/** Limits of requests that write. */
export type WriteLimits = Pick<WriterOptions, 'limits' | 'fieldLimits' | 'maxItems'>;

/** Result of a try. */
export interface Tried {
  readonly sent: readonly SentStatement[];
  readonly complete: boolean;
  readonly answer?: JsonValue;
  /** Error that the caller would get instead. */
  readonly error?: PlatformError;
}

/** Runs the write in the name of an access class as far as the rehearsal goes. */
export async function tryOut(
  { api, write, caller, database, limits }: ExplainedRequest,
  access: AccessClass,
): Promise<Tried> {
  const { defersConstraints } = sqlDialects[api.dialect];
  const dryRun = database === null ? silentDryRun() : rolledBackDryRun(database, defersConstraints);
  // Hooks are code of the project, which an explanation must not run.
  const others = api.access.filter(({ name }) => name !== access.name);
  const judged: CompiledApi = { ...api, access: [...others, access], extensions: [] };
  try {
    const body = write.body === '' ? undefined : parseBodyText(write.body);
    refuseSingleton(api, write, access);
    const ask = askOf(judged, write, { ...caller, accessClass: access.name }, body);
    const result = await execute(judged, dryRun, ask, limits);
    const parsed: JsonValue = result === null ? null : JSON.parse(result.toString('utf8'));
    return { sent: dryRun.sent(), complete: true, answer: parsed };
  } catch (error) {
    const done = { sent: dryRun.sent(), complete: dryRun.complete() };
    if (error instanceof Unanswered) return done;
    if (!(error instanceof PlatformError) || error.status >= 500) throw error;
    return { ...done, error };
  }
}

/** A singleton is one object, without keys. A caller who may not read it must not learn even that. */
function refuseSingleton({ collections }: CompiledApi, { method, target }: WriteToExplain, access: AccessClass): void {
  const item = readItemPath(splitTarget(target).path);
  const isOne = collections.some(({ name, singleton }) => singleton && name === item?.collection);
  if (!isOne || (method === 'PATCH' && item?.key === null)) return;
  const read = access.collections.find(({ collection }) => collection === item?.collection)?.read ?? [];
  if (read.length > 0) throw new PlatformError('ROUTE_NOT_FOUND');
}

async function execute(
  api: CompiledApi,
  { database }: DryRun,
  command: WriteCommand,
  limits: WriteLimits = {},
): Promise<Buffer | null> {
  const planner = createPlanner(api, limits.limits && { limits: limits.limits });
  const writer = createWriter({
    ...{ api, database, planner, timeoutMs: 0, ...limits },
    reportError: () => {},
    driftGuard: () => {},
    system: createSystemWrites({ api }),
  });
  return run(writer, command);
}

async function run(writer: Writer, { action, request, item, singleton, body }: WriteCommand): Promise<Buffer | null> {
  if (action === 'create') return (await writer.create(request, body)).body;
  if (action === 'delete') return item === undefined ? writer.delete(request, body) : writer.deleteOne(request, item);
  if (singleton === true) return writer.updateSingleton(request, body);
  return item === undefined ? writer.update(request, body) : writer.updateOne(request, item, body);
}

/** The write as the routes would ask it. */
function askOf(
  api: CompiledApi,
  { method, target }: WriteToExplain,
  caller: Caller,
  body: JsonValue | undefined,
): WriteCommand {
  const { path, query } = splitTarget(target);
  const { collection = '', key = null } = readItemPath(path) ?? {};
  const action = actions[method];
  const byKey = key !== null;
  const route = api.routes.find(
    (candidate) =>
      candidate.collection.name === collection && candidate.operation === action && candidate.byKey === byKey,
  );
  const request = {
    caller,
    // A collection without a route does not exist.
    collection: route === undefined ? '' : collection,
    query,
    sender: { ip: null, userAgent: null, origin: null },
  };
  const singleton = action === 'update' && route?.collection.singleton === true;
  return { action, request, body, ...(key !== null && { item: key }), ...(singleton && { singleton }) };
}
