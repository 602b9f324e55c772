/**
 * Explains how the server would handle a write: the rules that decide, and the statements. Nothing is written. Without
 * a database the write is planned up to where it waits for an answer. With one it runs in a transaction that is rolled
 * back.
 *
 * For people who build an API, never for its callers: a refusal names what is hidden.
 */
import type { Caller } from '../caller.ts';
import type { Database, Parameter } from '../database/database.ts';
import { type ErrorCode, PlatformError } from '../errors.ts';
import { gatherHooks } from '../extensions/hooks.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { AccessClass, CompiledApi, JsonValue, WriteRule } from '../language/index.ts';
import { readItemPath, splitTarget } from '../query/parse/target.ts';
import { canPreset } from '../write/access/scope.ts';
import { mayHaveConflict } from '../write/upsert/conflict.ts';
import type { Action } from '../write/write-command.ts';
import type { SentStatement } from './dry-run.ts';
import { everything } from './rights.ts';
import { actions, type ExplainedRequest, tryOut, type WriteLimits, type WriteToExplain } from './try-write.ts';
import { reasonsFor } from './write-reasons.ts';

/** One rule, as it applies to a write. */
export interface RuleOfWrite extends Pick<WriteRule, 'fields' | 'where' | 'presets'> {
  readonly action: Action;
  /** Condition on the written row; null for none. */
  readonly check: WriteRule['check'];
  /** Names at the top of the payloads that the rule does not grant. */
  readonly lacking: readonly string[];
  /** False where a value that the rule sets needs a user or a role, and there is none: it is no rule then. */
  readonly usable: boolean;
}

/** One statement of a write. */
interface StatementOfWrite {
  readonly statement: string;
  readonly parameters: readonly Parameter[];
}

interface ExplainedByRules {
  readonly action: Action;
  readonly collection: string;
  /** Rules of the caller for the action; for a POST with `on_conflict` also those for update. */
  readonly rules: readonly RuleOfWrite[];
  /** Code of the project that would run: `before articles.create`. It is not run here. */
  readonly hooks: readonly string[];
  readonly statements: readonly StatementOfWrite[];
}

/** A write that nothing has refused. */
export interface ExplainedWrite extends ExplainedByRules {
  readonly kind: 'write';
  /** True if these are all statements; otherwise the others depend on the answers of the database. */
  readonly complete: boolean;
  /** True if the database has run them. */
  readonly rehearsed: boolean;
  /** The answer that would be sent; null for none, absent where the database was not asked. */
  readonly answer?: JsonValue;
}

/** A write that is refused; its statements are those up to there. */
export interface RefusedWrite extends ExplainedByRules {
  readonly kind: 'refused';
  readonly code: ErrorCode;
  readonly message: string;
  /** Why, in whole sentences. */
  readonly reasons: readonly string[];
}

/** A statement with what EXPLAIN needs of it, beside what is told. */
interface ExplainedStatements {
  readonly explained: ExplainedWrite | RefusedWrite;
  readonly sent: readonly SentStatement[];
}

/**
 * Explains a write; with a database it is rehearsed there. Rejects with `PlatformError` ROUTE_NOT_FOUND for a target
 * that is no path of items or does not take the method. Rejects with SERVICE_UNAVAILABLE when the database is away.
 * @example
 * const write = { method: 'POST', target: '/items/articles', body: '{"title":"Hello"}' } as const;
 * const { explained } = await explainWrite(api, write, { accessClass: 'editor', user: null, role: null }, null);
 */
export async function explainWrite(
  api: CompiledApi,
  write: WriteToExplain,
  caller: Caller,
  database: Pick<Database, 'transaction'> | null,
  limits: WriteLimits = {},
): Promise<ExplainedStatements> {
  const requested: ExplainedRequest = { api, write, caller, database, limits };
  const { path, query } = splitTarget(write.target);
  const item = readItemPath(path);
  if (item === null || (write.method === 'POST' && item.key !== null)) throw new PlatformError('ROUTE_NOT_FOUND');
  const action = actions[write.method];
  const { collection } = item;
  const access = api.access.find(({ name }) => name === caller.accessClass);
  const tried = await tryOut(requested, access ?? everything(api));
  const actionsOf: readonly Action[] = action === 'create' && mayHaveConflict(query) ? ['create', 'update'] : [action];
  const payloads = payloadsOf(api, write, item);
  const byRules: ExplainedByRules = {
    action,
    collection,
    rules: actionsOf.flatMap((candidate) => rulesOf(access, candidate, collection, payloads, caller)),
    hooks: actionsOf.flatMap((candidate) => hooksOf(api, `${collection}.${candidate}`)),
    statements: tried.sent.map(({ statement, parameters }) => ({ statement: statement.text, parameters })),
  };
  const { error, sent, complete, answer: result } = tried;
  if (error === undefined) {
    const answered = result === undefined ? {} : { answer: result };
    return { explained: { kind: 'write', ...byRules, complete, rehearsed: database !== null, ...answered }, sent };
  }
  const reasons = await reasonsFor(requested, tried, access, byRules);
  return { explained: { kind: 'refused', code: error.code, message: error.message, reasons, ...byRules }, sent };
}

function rulesOf(
  access: AccessClass | undefined,
  action: Action,
  collection: string,
  payloads: ReadonlySet<string>,
  caller: Caller,
): readonly RuleOfWrite[] {
  const granted = access?.collections.find((candidate) => candidate.collection === collection);
  if (action === 'delete') {
    const deleting = granted?.delete ?? [];
    return deleting.map(({ where }) => ({
      action,
      fields: [],
      where,
      presets: [],
      check: null,
      lacking: [],
      usable: true,
    }));
  }
  return (granted?.[action] ?? []).map((rule) => {
    const { fields, where, presets, check } = rule;
    const written = check ?? (action === 'update' ? where : null);
    const lacking = [...payloads].filter((name) => !fields.includes(name));
    return { action, fields, where, presets, check: written, lacking, usable: canPreset(rule, caller) };
  });
}

/** Names at the top of the payloads, without the key that names an item of a list of changes. */
function payloadsOf(
  api: CompiledApi,
  { method, body }: WriteToExplain,
  { collection, key }: { readonly collection: string; readonly key: string | null },
): ReadonlySet<string> {
  if (method === 'DELETE' || body === '') return new Set();
  const descriptor = api.collections.find(({ name }) => name === collection);
  const sent = jsonOf(body);
  const isList = Array.isArray(sent);
  const shared = method === 'PATCH' && key === null && descriptor?.singleton !== true && !isList;
  const payload = shared && isObject(sent) ? (sent.data ?? null) : sent;
  const items: readonly JsonValue[] = Array.isArray(payload) ? payload : [payload];
  const names = new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item) : [])));
  return method === 'PATCH' && isList
    ? new Set([...names].filter((name) => descriptor?.key.includes(name) !== true))
    : names;
}

/** A text that cannot be parsed has no names; the error is reported elsewhere. */
function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function hooksOf(api: CompiledApi, event: string): readonly string[] {
  const waiting = gatherHooks(api).of(event);
  if (waiting === undefined) return [];
  return [...waiting.before, ...waiting.after, ...waiting.afterCommit].map(({ stage }) => `${stage} ${event}`);
}
