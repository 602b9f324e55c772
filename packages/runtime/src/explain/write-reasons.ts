/** Why a write is refused, in whole sentences. */
import type { AccessClass, CompiledApi, WriteRule } from '../language/index.ts';
import type { Action } from '../write/write-command.ts';
import {
  everything,
  formatMissing,
  leastOf,
  missingPermissions,
  type Right,
  unreachable,
  withPermissions,
} from './rights.ts';
import { type ExplainedRequest, type Tried, tryOut } from './try-write.ts';

/** Action and collection of a write. */
interface Subject {
  readonly action: Action;
  readonly collection: string;
}

/** Conditions by which a rule grants less than every row, found or written. */
type Widened = Pick<WriteRule, 'where'> & Partial<Pick<WriteRule, 'check'>>;

/** Why a write is refused. Rights are looked for by trying with more of them. */
export async function reasonsFor(
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
  if (isKnown && !api.routes.some((route) => route.collection.name === collection && route.operation === action))
    return [`No role can do that: the database does not allow ${verbs[action]} rows of ${collection}.`];
  // A name that cannot be written does not exist for anyone but administrators.
  const { error } = await tryOut(requested, { ...everything(api), admin: true });
  if (error !== undefined && error.code !== 'FORBIDDEN') return [error, ...error.others].map(({ message }) => message);
  return ['Something that the request names does not exist: administrators are refused, too.'];
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
