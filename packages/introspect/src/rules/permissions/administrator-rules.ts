import { groupedBy } from '../../order.ts';
import type { Rule } from '../rule.ts';

/** A role with `admin: true` may do everything, independent of its rules. */
export const administratorRules: Rule = (schema, { permissions }) => {
  const administrators = new Set(schema.roles.filter(({ admin }) => admin).map(({ name }) => name));
  const ruled = permissions.rules.filter(({ role }) => administrators.has(role.name));
  return [...groupedBy(ruled, ({ role }) => role.name)].flatMap(([name, group]) =>
    group.slice(0, 1).map(({ role }) => ({
      code: 'administrator-rules',
      severity: 'warning' as const,
      place: role.place,
      message: `The role "${name}" has \`admin: true\` and may do everything; its rules have no effect.`,
      hint: 'Remove the rules, or `admin: true`.',
    })),
  );
};
