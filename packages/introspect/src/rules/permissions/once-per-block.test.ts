import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TableSketch } from '../../testing/facts.ts';
import { resolve } from '../../testing/resolve.ts';

const page = readFileSync(new URL('../../../../../docs/permissions.md', import.meta.url), 'utf8');

const tables: Readonly<Record<string, TableSketch>> = {
  authors: { columns: ['id!=:integer', 'name'], key: ['id'] },
  articles: {
    columns: ['id!=:integer', 'title!', 'views:integer', 'author_id:integer', 'user_id:uuid'],
    key: ['id'],
    foreignKeys: ['author_id > authors.id', 'user_id > platform.platform_users.id'],
  },
  platform_users: { schema: 'platform', columns: ['id!=:uuid', 'email'], key: ['id'] },
  platform_revisions: { schema: 'platform', columns: ['id!=:integer'], key: ['id'] },
  totals: { kind: 'materializedView', columns: ['n'], readOnly: true },
};

/** What rules of one role can say: what there is to complain about, and what depends on the role. */
const rules = [
  ...[...page.matchAll(/`permissions: \{ public: (\{ .* \}) \}`/g)].flatMap(([, rule]) => rule ?? []),
  '{ articles: { read: { fields: [id], filter: { user_id: { email: { _eq: a } } } } } }',
  '{ articles: { read: { fields: [id], filter: { user_id: $CURRENT_ROLE } } } }',
  '{ articles: { read: true, update: [{ fields: [title] }, { fields: [views], presets: { title: a } }] } }',
];

const roles = ['public', 'one', 'two', 'boss', 'visitor', 'guest', 'nobody'];

/** The same rules for several roles; with `apart`, something in each block that means nothing and stands in no other. */
function permissionsOf(blocks: readonly (readonly [role: string, rules: string])[], apart: boolean): string {
  return [
    'roles: { one: {}, two: {}, boss: { admin: true }, visitor: { app: true }, guest: { app: true } }',
    'permissions:',
    ...blocks.map(([role, rule], at) => `  ${role}:\n    ${rule}${apart ? ` # ${at}` : ''}`),
    '',
  ].join('\n');
}

const orders = fc.shuffledSubarray(roles, { minLength: 2 });

test('what is said about rules that stand there several times is said about each of them', () => {
  let complaints = 0;
  const codes = new Set<string>();
  fc.assert(
    fc.property(orders, fc.constantFrom(...rules), fc.constantFrom(...rules), fc.nat(), (order, rule, other, bits) => {
      const blocks = order.map((role, at) => [role, (bits >> at) % 4 === 0 ? other : rule] as const);
      const once = resolve(tables, { permissions: permissionsOf(blocks, false) });
      expect(once).toEqual(resolve(tables, { permissions: permissionsOf(blocks, true) }));
      complaints += once.diagnostics.length;
      for (const { code } of once.diagnostics) codes.add(code);
    }),
    { numRuns: 300 },
  );
  expect(complaints).toBeGreaterThan(300);
  expect([...codes]).toEqual(
    expect.arrayContaining(['hidden-path', 'never-matches', 'unknown-field', 'refused-preset']),
  );
});
