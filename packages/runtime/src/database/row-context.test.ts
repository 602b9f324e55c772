import { expect, test } from 'vitest';
import { createNote } from './database.ts';
import { type RowContext, runAs, serverSide } from './row-context.ts';

const contextOf = (key: string): RowContext => ({
  key,
  apply: { name: 'apply', text: 'SELECT 1', parameters: [] },
  undo: { name: 'undo', text: 'SELECT 2' },
});

test('a statement is one object for each side, by which others keep facts of it', () => {
  const [ada, bob] = [contextOf('ada'), contextOf('bob')];
  const statement = { text: 'SELECT 3', mayLag: true };
  const sides = [ada, bob, 'server'] as const;
  const acting = sides.map((rowContext) => runAs(statement, { rowContext }));
  expect(acting).toEqual(sides.map((runsAs) => ({ text: 'SELECT 3', runsAs })));
  expect(new Set([statement, ...acting]).size).toBe(4);
  for (const [position, rowContext] of sides.entries()) expect(runAs(statement, { rowContext })).toBe(acting[position]);
  expect(runAs(statement, serverSide)).toBe(acting[2]);
  expect(runAs(statement, {})).toBe(statement);
});

test('a statement of a caller keeps its notes, by which optimisations know it', () => {
  const rows = createNote<number>('rows');
  const acting = runAs(rows.on({ name: 'a', text: 'SELECT 3', mayLag: true }, 7), { rowContext: contextOf('ada') });
  expect(rows.of(acting)).toBe(7);
  expect(acting).not.toHaveProperty('mayLag');
});
