/** Callers as policies of the database know them: their claims, and the role under which their statements run. */
import { createHash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import type { Parameter } from '../database/database.ts';
import type { RowContext } from '../database/row-context.ts';
import { serverOf, sqlDialects } from '../dialects/index.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { CompiledApi, JsonValue, Operand, RowSecurity } from '../language/index.ts';
import { arrayLiteral, claimPath, literalValue } from '../language/index.ts';
import { bind } from '../query/planner.ts';
import { printPath } from '../sql/caller-path.ts';
import { buildOpenScope } from '../sql/scope.ts';
import { createStatement } from '../sql/statement.ts';

interface ClaimedCaller {
  /** Name of the role; null without one. */
  readonly role: string | null;
  readonly admin: boolean;
  readonly user: string | null;
  readonly roleKey: string | null;
}

/** Gives the settings of a caller, as a member of it; none where callers are not passed on. */
export type FindRowContext = (caller: ClaimedCaller) => Pick<Caller, 'rowContext'>;

type SecuredApi = Pick<CompiledApi, 'rowSecurity' | 'collections' | 'access' | 'dialect'>;

/** The values of `apply`, by their positions among those of a caller. */
const claims = 0;
const role = 1;

/**
 * Makes the function of an API.
 * @example
 * const rowContext = createRowContexts(api);
 * const caller = { accessClass: 'editor', user: null, role: null };
 * const passed = { ...caller, ...rowContext({ role: 'editor', admin: false, user: null, roleKey: null }) };
 */
export function createRowContexts(api: SecuredApi): FindRowContext {
  const { rowSecurity } = api;
  if (rowSecurity === undefined) return () => ({});
  const { apply, undo, binders } = printSettings(api, rowSecurity);
  return (caller) => {
    const { user, roleKey } = caller;
    const databaseRole = roleOf(rowSecurity, caller);
    const claimed = JSON.stringify(claimsOf(rowSecurity, caller, databaseRole));
    const values = [claimed, databaseRole ?? 'none'];
    const parameters: readonly Parameter[] = bind(binders, values, { accessClass: '', user, role: roleKey });
    const key = JSON.stringify([databaseRole, claimed, user, roleKey]);
    const rowContext: RowContext = { key, apply: { ...apply, parameters }, undo };
    return { rowContext };
  };
}

/** The role of the database; null for that of the connection. */
function roleOf({ roles }: RowSecurity, { role: name, admin }: ClaimedCaller): string | null {
  if (roles === undefined) return null;
  const named = new Map(Object.entries(roles));
  return (name === null ? undefined : named.get(name)) ?? named.get(admin ? 'admin' : 'public') ?? null;
}

function claimsOf(
  { extraClaims = {} }: RowSecurity,
  { role: name, admin, user, roleKey }: ClaimedCaller,
  databaseRole: string | null,
): Claims {
  const platformClaims: Claims = { sub: user, role: databaseRole ?? name ?? (admin ? 'admin' : 'public') };
  return Object.entries(extraClaims).reduce((claims, [claim, operand]) => {
    const value = operand.kind === 'literal' ? literalValue(operand) : undefined;
    const caller = operand.kind === 'caller' && operand.path.length === 0;
    return withClaim(claims, claimPath(claim), caller ? (operand.of === 'user' ? user : roleKey) : value);
  }, platformClaims);
}

type Claims = Readonly<Record<string, JsonValue>>;

/** Claims with another one; without a value only the objects around it, in which the server puts the value. */
function withClaim(claims: Claims, [name = '', ...inner]: readonly string[], value: JsonValue | undefined): Claims {
  if (inner.length === 0) return value === undefined ? claims : { ...claims, [name]: value };
  const outer = claims[name] ?? {};
  return { ...claims, [name]: withClaim(isObject(outer) ? outer : {}, inner, value) };
}

/** Prints the statements: values that a path leads to are read by the server, before the role is the caller's. */
function printSettings(api: SecuredApi, { claims: name, roles, extraClaims = {} }: RowSecurity) {
  const { rowSettings } = serverOf(api.dialect);
  if (rowSettings === undefined) throw new Error('This server has no policies that callers could be passed on to.');
  const statement = createStatement(new Map(), sqlDialects[api.dialect]);
  const scope = buildOpenScope(api);
  const value = (index: number): string => statement.parameter({ kind: 'value', index }, 'text');
  const extra = Object.entries(extraClaims).flatMap(([claim, operand]) => {
    const expression = isPath(operand) ? printPath({ statement, scope }, operand, () => false)?.expression : undefined;
    if (expression === undefined) return [];
    const path = claimPath(claim);
    const isNested = path.length > 1;
    const fixed = { kind: 'fixed', value: isNested ? arrayLiteral(path) : claim } as const;
    return [{ name: statement.parameter(fixed, isNested ? 'text[]' : 'text'), value: expression, isNested }];
  });
  const parts = { setting: name, claims: value(claims), ...(roles && { role: value(role) }), extra };
  const { text, binders } = statement.finish(rowSettings.apply(parts));
  return { binders, apply: named(text), undo: named(rowSettings.undo(name)) };
}

function isPath(operand: Operand): operand is Extract<Operand, { kind: 'caller' }> {
  return operand.kind === 'caller' && operand.path.length > 0;
}

function named(text: string): { readonly name: string; readonly text: string } {
  return { name: `s_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`, text };
}
