import { dialectFacts, followCallerPath, parseOperand } from '@tablewright/runtime/language';
import type { RowSecurityConfig } from '../../config/config.ts';
import { configPlace, type Diagnostic } from '../../diagnostic.ts';
import { filterNames } from '../../passes/permissions/filter-names.ts';
import type { Schema } from '../../schema.ts';
import { configError, quotedList, type Rule, unknownName } from '../rule.ts';

const path = ['database', 'rowSecurity'];

/** Passing callers on to policies needs a server that has them, a setting, roles that exist, and values of callers. */
export const configRowSecurity: Rule = (schema, { config }) => {
  const passed = config.database?.rowSecurity;
  if (passed === undefined) return [];
  const { policies, title } = dialectFacts[schema.dialect];
  if (!policies) {
    const message = `${title} has no policies, so callers cannot be passed on to them.`;
    return [configError(path, 'row-security-unsupported', message, 'Remove the entry; rules hold all the same.')];
  }
  return [...settingProblems(passed), ...roleProblems(schema, passed), ...claimProblems(schema, passed)];
};

/** Settings of the server itself have no dot; one of them must not take the claims. */
function settingProblems({ claims }: RowSecurityConfig): readonly Diagnostic[] {
  if (/^[a-z_][\w$]*(?:\.[a-z_][\w$]*)+$/i.test(claims)) return [];
  const message = `"${claims}" cannot be the setting of claims: it needs two names or more with dots between them.`;
  return [configError([...path, 'claims'], 'row-security-claims', message, 'Take "request.jwt.claims".')];
}

function roleProblems(schema: Schema, { roles }: RowSecurityConfig): readonly Diagnostic[] {
  if (roles === undefined) return [];
  const names = ['public', 'admin', ...schema.roles.map(({ name }) => name)];
  const unknown = Object.keys(roles).filter((name) => !names.includes(name));
  const missing = schema.roles.filter(({ name, admin }) => !admin && roles[name] === undefined).map(({ name }) => name);
  return [
    ...unknown.map((name) => unknownName([...path, 'roles', name], `There is no role "${name}".`, name, names)),
    ...(roles.public === undefined
      ? [configError([...path, 'roles'], 'row-security-role', 'The role "public" needs a role of the database.')]
      : []),
    ...(missing.length === 0 || roles.public === undefined
      ? []
      : [unnamedRoles(`${quotedList(missing)} run as "${roles.public}", the role of the database of "public".`)]),
  ];
}

function unnamedRoles(message: string): Diagnostic {
  const hint = 'Name a role of the database for each.';
  return { code: 'row-security-role', severity: 'warning', place: configPlace(...path, 'roles'), message, hint };
}

function claimProblems(
  { collections, tables }: Schema,
  { extraClaims = {} }: RowSecurityConfig,
): readonly Diagnostic[] {
  const names = filterNames(collections, tables);
  return Object.entries(extraClaims).flatMap(([name, value]) => {
    const refuse = (message: string) => [configError([...path, 'extraClaims', name], 'row-security-claims', message)];
    if (name === 'sub' || name === 'role') return refuse(`The claim "${name}" is the platform's own.`);
    const parsed = parseOperand(value);
    if (!parsed.ok) return refuse(`The claim "${name}" ${parsed.message}.`);
    const { operand } = parsed;
    if (operand.kind === 'now') return refuse(`The claim "${name}" cannot be a time.`);
    if (operand.kind === 'literal' || operand.path.length === 0) return [];
    const followed = followCallerPath(names, operand);
    return 'message' in followed ? refuse(`The claim "${name}" ${followed.message}.`) : [];
  });
}
