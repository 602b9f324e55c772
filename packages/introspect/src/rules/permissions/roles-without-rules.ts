import type { Rule } from '../rule.ts';

/** A role that may do nothing: not even what comes with `app: true`. */
export const rolesWithoutRules: Rule = (_schema, { permissions: { roles, rules, functions = [] } }) => {
  const ruled = new Set([...rules, ...functions].map(({ role }) => role.name));
  return roles
    .filter(({ name, admin, app }) => !admin && !app && !ruled.has(name))
    .map(({ name, place: location }) => ({
      code: 'role-without-rules',
      severity: 'warning' as const,
      place: location,
      message: `The role "${name}" has no rules, so it may do nothing.`,
      hint: 'Write its rules under "permissions".',
    }));
};
