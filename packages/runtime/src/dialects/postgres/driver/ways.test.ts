import { expect, test } from 'vitest';
import { Ways } from './ways.ts';

/** The ways of so many runs, each of which takes what its way says. */
function run(ways: Ways, times: number, took: Readonly<Record<'rows' | 'page', number>>): readonly string[] {
  return Array.from({ length: times }, () => {
    const way = ways.choose('r_1');
    ways.note('r_1', way, took[way]);
    return way;
  });
}

test('a quick statement goes row by row, always', () => {
  expect(new Set(run(new Ways(), 100, { rows: 4, page: 1 }))).toEqual(new Set(['rows']));
});

test('a slow one goes the way that takes less, and tries the other one now and then', () => {
  expect(run(new Ways(), 4, { rows: 50, page: 30 })).toEqual(['rows', 'page', 'page', 'page']);
  expect(run(new Ways(), 4, { rows: 50, page: 60 })).toEqual(['rows', 'page', 'rows', 'rows']);
  const ways = run(new Ways(), 100, { rows: 50, page: 30 });
  expect(ways.filter((way) => way === 'rows')).toHaveLength(4);
});

test('a statement that has become quick goes row by row again', () => {
  const ways = new Ways();
  run(ways, 10, { rows: 50, page: 30 });
  run(ways, 32, { rows: 1, page: 25 });
  expect(run(ways, 5, { rows: 1, page: 25 })).toEqual(['rows', 'rows', 'rows', 'rows', 'rows']);
});

test('one run that took long by chance changes nothing', () => {
  const ways = new Ways();
  run(ways, 3, { rows: 50, page: 30 });
  ways.note('r_1', 'page', 90);
  expect(ways.choose('r_1')).toBe('page');
});

test('as many statements are remembered as there is room for', () => {
  const ways = new Ways();
  for (let number = 0; number < 1_001; number++) ways.note(`r_${number}`, 'rows', 50);
  expect([ways.choose('r_0'), ways.choose('r_1000')]).toEqual(['rows', 'page']);
});
