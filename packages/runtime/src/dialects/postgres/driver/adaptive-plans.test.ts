import { expect, test } from 'vitest';
import { AdaptivePlans } from './adaptive-plans.ts';

/** The plans of so many runs, each of which takes the time of its plan. */
function run(plans: AdaptivePlans, times: number, took: Readonly<Record<'rows' | 'page', number>>): readonly string[] {
  return Array.from({ length: times }, () => {
    const plan = plans.choose('r_1');
    plans.note('r_1', plan, took[plan]);
    return plan;
  });
}

test('a quick statement goes row by row, always', () => {
  expect(new Set(run(new AdaptivePlans(), 100, { rows: 1.9, page: 1 }))).toEqual(new Set(['rows']));
});

test('a slow one takes the quicker plan, and tries the other one now and then', () => {
  const first = ['rows', 'rows', 'rows', 'page'];
  expect(run(new AdaptivePlans(), 6, { rows: 2.1, page: 2 })).toEqual([...first, 'page', 'page']);
  expect(run(new AdaptivePlans(), 8, { rows: 50, page: 60 })).toEqual([...first, 'page', 'page', 'rows', 'rows']);
  expect(run(new AdaptivePlans(), 6, { rows: 50, page: 101 })).toEqual([...first, 'rows', 'rows']);
  const plans = run(new AdaptivePlans(), 100, { rows: 50, page: 30 });
  expect(plans.filter((plan) => plan === 'rows')).toHaveLength(5);
});

test('a statement that takes long once in a while goes row by row', () => {
  const plans = new AdaptivePlans();
  for (let time = 0; time < 10; time++) {
    expect(run(plans, 2, { rows: 50, page: 30 })).toEqual(['rows', 'rows']);
    expect(run(plans, 1, { rows: 1, page: 30 })).toEqual(['rows']);
  }
});

test('a first run for the whole page that took long by chance changes nothing', () => {
  const plans = new AdaptivePlans();
  run(plans, 3, { rows: 50, page: 30 });
  plans.note('r_1', 'page', 70);
  expect(run(plans, 4, { rows: 50, page: 30 })).toEqual(['page', 'page', 'page', 'page']);
});

test('a statement that has become quick goes row by row again', () => {
  const plans = new AdaptivePlans();
  run(plans, 10, { rows: 50, page: 30 });
  run(plans, 32, { rows: 1, page: 25 });
  expect(run(plans, 5, { rows: 1, page: 25 })).toEqual(['rows', 'rows', 'rows', 'rows', 'rows']);
});

test('one run that took long by chance changes nothing', () => {
  const plans = new AdaptivePlans();
  run(plans, 5, { rows: 50, page: 30 });
  plans.note('r_1', 'page', 90);
  expect(plans.choose('r_1')).toBe('page');
});

test('as many statements are remembered as there is room for', () => {
  const plans = new AdaptivePlans();
  for (let number = 0; number < 1_001; number++) {
    for (let run = 0; run < 3; run++) plans.note(`r_${number}`, 'rows', 50);
  }
  expect([plans.choose('r_0'), plans.choose('r_1000')]).toEqual(['rows', 'page']);
});
