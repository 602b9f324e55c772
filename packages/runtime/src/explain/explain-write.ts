/**
 * Explains how the server would handle a write: the rules that decide, and the statements. Nothing is written. Without
 * a database the write is planned up to where it waits for an answer. With one it runs in a rolled-back transaction.
 *
 * For people who build an API, never for its callers: a refusal names what is hidden.
 */
import type { Caller } from '../caller.ts';
import type { Database, Parameter } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { gatherHooks } from '../extensions/hooks.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { AccessClass, CompiledApi, JsonValue, WriteRule } from '../language/index.ts';
import { readItemPath, splitTarget } from '../query/parse/target.ts';
import { canPreset } from '../write/access/scope.ts';
import { mayHaveConflict } from '../write/upsert/conflict.ts';
import type { Action } from '../write/write-command.ts';
import type { RefusedRead } from './explain-read.ts';
import {
  everything,
  formatAbsent,
  formatMissing,
  leastOf,
  missingPermissions,
  type Right,
  unreachable,
  withPermissions,
} from './rights.ts';
import {
  actions,
  type ExplainedRequest,
  type SentStatement,
  type Tried,
  tryOut,
  type WriteLimits,
  type WriteToExplain,
} from './try-write.ts';

/** One rule, as it applies to a write. */
export interface RuleOfWrite extends Pick<WriteRule, 'fields' | 'where' | 'presets' | 'purge'> {
  readonly action: Action;
  /** Condition on the written row; null for none. */
  readonly check: WriteRule['check'];
  /** Names at the top of the payloads that the rule does not grant. */
  readonly lacking: readonly string[];
  /** False where a value that the rule sets needs a user or a role, and there is none: it is no rule then. */
  readonly usable: boolean;
}

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
export interface RefusedWrite extends ExplainedByRules, RefusedRead {}

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
    return deleting.map(({ where, purge }) => ({
      action,
      fields: [],
      where,
      ...(purge && { purge }),
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

interface Subject {
  readonly action: Action;
  readonly collection: string;
}

/** Conditions by which a rule grants less than every row, found or written. */
type Widened = Pick<WriteRule, 'where'> & Partial<Pick<WriteRule, 'check'>>;

/** Reason why a write is refused. Rights are looked for by trying with more of them. */
async function reasonsFor(
  requested: ExplainedRequest,
  { error, sent }: Tried,
  access: AccessClass | undefined,
  { action, collection }: Subject,
): Promise<readonly string[]> {
  if (error === undefined) return [];
  if (error.code === 'ROUTE_NOT_FOUND')
    return [`"${collection}" is a singleton: it has no keys, and cannot be created or deleted.`];
  if (error.code !== 'FORBIDDEN') return [error, ...error.others].map(({ message }) => message);
  const isAllowed = async (granted: AccessClass): Promise<boolean> =>
    !['FORBIDDEN', 'ROUTE_NOT_FOUND'].includes((await tryOut(requested, granted)).error?.code ?? '');
  if (access === undefined || access.admin || !(await isAllowed(everything(requested.api)))) {
    return impossible(requested, { action, collection });
  }
  const lacking = relevantPermissions(requested, access, collection);
  const needed = await leastOf(lacking, (granted) => isAllowed(withPermissions(access, granted)));
  if (needed !== null && needed.length > 0) return needed.map(formatMissing);
  const rows = sent.length === 0 ? [] : await narrowRules({ action, collection }, access, isAllowed);
  return rows.length > 0 ? rows : ['No single rule of the role decides: several together refuse the request.'];
}

/** Returns the reasons why no permission would allow this. */
async function impossible(requested: ExplainedRequest, { action, collection }: Subject): Promise<readonly string[]> {
  const { api } = requested;
  const keyless = unreachable(api, collection);
  if (keyless !== null) return [keyless];
  const isKnown = api.collections.some(({ name }) => name === collection);
  if (!isKnown) return [formatAbsent(collection)];
  if (!api.routes.some((route) => route.collection.name === collection && route.operation === action))
    return [`No role can do that: the database does not allow ${verbs[action]} rows of ${collection}.`];
  // A name that cannot be written does not exist for anyone but administrators.
  const { error } = await tryOut(requested, { ...everything(api), admin: true });
  if (error !== undefined && error.code !== 'FORBIDDEN') return [error, ...error.others].map(({ message }) => message);
  return [`${error?.missing ?? 'Something that the request names'} does not exist: administrators are refused, too.`];
}

/** Rights that the role lacks on collections which the request leads to, as far as the request has their names. */
function relevantPermissions(
  { api, write }: ExplainedRequest,
  access: AccessClass,
  collection: string,
): readonly Right[] {
  const text = `${plainly(write.target)} ${write.body}`;
  const meant = namesMeant(api, collection, text);
  return missingPermissions(api, access, ['read', 'create', 'update', 'delete']).filter(
    ({ collection: about, name }) => {
      const implied = meant.get(about);
      return implied !== undefined && (implied.has(name) || text.includes(name));
    },
  );
}

function plainly(target: string): string {
  try {
    return decodeURIComponent(target.replaceAll('+', ' '));
  } catch {
    return target;
  }
}

/**
 * A collection, and those at the end of relations whose names the request has. Each has the fields that are written to
 * link its items, though the request does not name them.
 */
function namesMeant(api: CompiledApi, collection: string, text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const byName = new Map(api.collections.map((descriptor) => [descriptor.name, descriptor]));
  const meant = new Map([[collection, new Set<string>()]]);
  const mean = (name: string, implied: readonly string[]): void => {
    const names = meant.get(name);
    if (names === undefined) meant.set(name, new Set(implied));
    else for (const field of implied) names.add(field);
  };
  const fieldsOf = (name: string): readonly string[] => byName.get(name)?.fields.map((field) => field.name) ?? [];
  for (const name of meant.keys()) {
    for (const relation of byName.get(name)?.relations ?? []) {
      if (!text.includes(relation.name)) continue;
      const { kind, target } = relation;
      mean(target, kind === 'o2m' ? [relation.inverse] : kind === 'm2a' ? fieldsOf(target) : []);
      if (kind === 'm2m') mean(relation.junction, fieldsOf(relation.junction));
      if (kind === 'm2a') for (const allowed of relation.allowed) mean(allowed, []);
    }
  }
  return meant;
}

/** The rules that would grant the write if they reached every row, and what they say of it. */
async function narrowRules(
  { action, collection }: Subject,
  access: AccessClass,
  isAllowed: (access: AccessClass) => Promise<boolean>,
): Promise<readonly string[]> {
  const granted = access.collections.find((candidate) => candidate.collection === collection);
  const reasons: string[] = [];
  for (const index of (granted?.[action] ?? []).keys()) {
    const widened = (rule: <Rule extends Widened>(rule: Rule) => Rule): AccessClass => ({
      ...access,
      collections: access.collections.map((entry) =>
        entry === granted
          ? { ...entry, [action]: entry[action]?.map((two, position) => (position === index ? rule(two) : two)) }
          : entry,
      ),
    });
    if (!(await isAllowed(widened(onEveryRow)))) continue;
    const reached = action === 'update' && (await isAllowed(widened(onWhateverIsWritten)));
    const why = reached ? 'the rows as they are written do not meet its condition' : 'does not reach the rows';
    reasons.push(`Rule ${index + 1} for ${verbs[action]} ${collection} would grant it, but ${why}.`);
  }
  return reasons;
}

const verbs: Readonly<Record<Action, string>> = { create: 'creating', update: 'changing', delete: 'deleting' };

function onWhateverIsWritten<Rule extends Widened>(rule: Rule): Rule {
  return { ...rule, check: { kind: 'and', of: [] } };
}

function onEveryRow<Rule extends Widened>(rule: Rule): Rule {
  return { ...rule, where: { kind: 'and', of: [] } };
}
