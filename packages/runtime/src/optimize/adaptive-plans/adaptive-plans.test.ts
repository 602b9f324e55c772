import { expect, test } from 'vitest';
import type { Statement } from '../../database/database.ts';
import { AdaptivePlans, type OtherWay, otherWays, pageFamily } from './adaptive-plans.ts';

type Way = 'rows' | 'page' | 'join';
const wayNames: readonly Way[] = ['rows', 'page', 'join'];
const page: OtherWay = { name: 'r_2', text: 'SELECT 2' };
const join: OtherWay = { name: 'r_3', text: 'SELECT 3', whole: ['"tags"'] };

/** Runs of a statement that takes long, before it tries another way. */
const rowsFirst: readonly Way[] = Array.from({ length: 8 }, () => 'rows');

/** Plans of statements with a second way, and with a third one where their tables are small. */
const create = (areSmall = true): AdaptivePlans =>
  new AdaptivePlans({ ...calm, factsOf: () => ({ areSmall, statistics: [] }) });

const calm = { isCalm: () => true, planForMany: (statement: Statement) => statement };

/** The ways of so many runs, each of which takes the time of its way. */
function run(plans: AdaptivePlans, times: number, took: Readonly<Partial<Record<Way, number>>>): readonly Way[] {
  const others = took.join === undefined ? [page] : [page, join];
  return Array.from({ length: times }, () => {
    const way = plans.choose('r_1', others);
    const name = wayNames[way] ?? 'rows';
    plans.note('r_1', way, took[name] ?? 0);
    return name;
  });
}

test('a quick statement goes row by row, always', () => {
  expect(new Set(run(create(), 100, { rows: 0.9, page: 0.5 }))).toEqual(new Set(['rows']));
});

test('a slow one takes the quicker plan, and tries the other one where that adds little', () => {
  const first = [...rowsFirst, 'page'];
  expect(run(create(), 27, { rows: 2.1, page: 2 }).slice(-4)).toEqual(['rows', 'page', 'page', 'page']);
  expect(run(create(), 13, { rows: 50, page: 60 })).toEqual([...first, 'page', 'page', 'rows', 'rows']);
  expect(run(create(), 12, { rows: 50, page: 101 })).toEqual([...first, 'page', 'rows', 'rows']);
  expect(run(create(), 11, { rows: 50, page: 401 })).toEqual([...first, 'rows', 'rows']);
  const rowsOf = (plans: readonly Way[]): number => plans.filter((plan) => plan === 'rows').length;
  expect(rowsOf(run(create(), 1_000, { rows: 50, page: 30 }))).toBe(8 + 4);
  expect(rowsOf(run(create(), 1_000, { rows: 30.1, page: 30 }))).toBe(8 + 30);
  expect(rowsOf(run(create(), 10_000, { rows: 1_800, page: 2 }))).toBe(8);
});

test('a statement that is quick row by row stays with a way that is quicker', () => {
  const plans = create();
  run(plans, 30, { rows: 1.2, page: 0.7 });
  run(plans, 8, { rows: 0.9, page: 0.7 });
  expect(plans.choose('r_1', [page])).toBe(1);
});

test('a statement that is quick now and then tries no other way', () => {
  const plans = create();
  const ways = Array.from({ length: 50 }, () => [
    ...run(plans, 4, { rows: 1.1, page: 5 }),
    ...run(plans, 2, { rows: 0.9, page: 5 }),
  ]).flat();
  expect(ways.filter((way) => way === 'page')).toHaveLength(0);
});

test('a statement goes row by row where most runs take long by chance, but not all', () => {
  for (const page of [0.35, 0.5, 5]) {
    const plans = create();
    const ways = Array.from({ length: 200 }, () => [
      ...run(plans, 2, { rows: 6, page: 6 }),
      ...run(plans, 1, { rows: 0.3, page }),
    ]).flat();
    expect(new Set(ways)).toEqual(new Set(['rows']));
  }
});

test('averages decide where many pages have few links, and the others most of the work', () => {
  const plans = create();
  const ways = Array.from({ length: 200 }, () => [
    ...run(plans, 1, { rows: 60, page: 30 }),
    ...run(plans, 1, { rows: 0.3, page: 0.5 }),
  ]).flat();
  expect(ways.filter((way) => way === 'page').length).toBeGreaterThan(350);
});

test('averages decide where a fifth of the pages have nearly all of the work', () => {
  const plans = create();
  const ways = Array.from({ length: 200 }, () => [
    ...run(plans, 4, { rows: 1, page: 2 }),
    ...run(plans, 1, { rows: 60, page: 25 }),
  ]).flat();
  expect(ways.filter((way) => way === 'page').length).toBeGreaterThan(850);
});

test('a first run for the whole page that took long by chance changes nothing', () => {
  const plans = create();
  run(plans, 8, { rows: 50, page: 30 });
  plans.note('r_1', 1, 70);
  expect(run(plans, 4, { rows: 50, page: 30 })).toEqual(['page', 'page', 'page', 'page']);
});

test('a statement that has become quick goes row by row again', () => {
  const plans = create();
  run(plans, 10, { rows: 50, page: 30 });
  run(plans, 320, { rows: 0.4, page: 25 });
  expect(run(plans, 5, { rows: 0.4, page: 25 })).toEqual(['rows', 'rows', 'rows', 'rows', 'rows']);
});

test('a first run that took long, as one does that prepares the statement, shuts out no way', () => {
  const plans = create();
  run(plans, 11, { rows: 60, page: 30 });
  run(plans, 1, { rows: 60, page: 30, join: 200 });
  expect(run(plans, 5, { rows: 60, page: 30, join: 15 })).toEqual(Array.from({ length: 5 }, () => 'join'));
});

test('a try that took long by chance does not shut out a way that has become the quicker one', () => {
  const plans = create();
  run(plans, 100, { rows: 60, page: 25, join: 29 });
  // At a busy time.
  run(plans, 40, { rows: 120, page: 25, join: 90 });
  const ways = run(plans, 150, { rows: 50, page: 28, join: 15 });
  expect(ways.slice(-50)).toEqual(Array.from({ length: 50 }, () => 'join'));
});

test('one run that took long by chance changes nothing', () => {
  const plans = create();
  run(plans, 10, { rows: 50, page: 30 });
  plans.note('r_1', 1, 90);
  expect(plans.choose('r_1', [page])).toBe(1);
});

test('as many statements are remembered as there is room for', () => {
  const plans = create();
  for (let number = 0; number < 1_001; number++) {
    for (let run = 0; run < 8; run++) plans.note(`r_${number}`, 0, 50);
  }
  expect([plans.choose('r_0', [page]), plans.choose('r_1000', [page])]).toEqual([0, 1]);
});

test('a third way is tried after the second, and each of the slower ones now and then', () => {
  const took = { rows: 50, page: 30, join: 20 };
  const plans = create();
  expect(run(plans, 15, took)).toEqual([
    ...[...rowsFirst, 'page', 'page', 'page'],
    ...['join', 'join', 'join', 'join'],
  ]);
  const later = run(plans, 640, took);
  expect(later.filter((way) => way === 'page')).toHaveLength(4);
  expect(later.filter((way) => way === 'rows')).toHaveLength(1);
});

test('tables are read as a whole only while they are small', () => {
  const took = { rows: 50, page: 30, join: 20 };
  expect(run(create(false), 100, took)).not.toContain('join');
  let areSmall = true;
  const plans = new AdaptivePlans({ ...calm, factsOf: () => ({ areSmall, statistics: [] }) });
  run(plans, 20, took);
  areSmall = false;
  expect(run(plans, 20, took)).toEqual(Array.from({ length: 20 }, () => 'page'));
});

test('all ways are tried again where the database has counted far other rows', () => {
  let statistics = [200];
  const plans = new AdaptivePlans({ ...calm, factsOf: () => ({ areSmall: true, statistics }) });
  run(plans, 20, { rows: 60, page: 38, join: 115 });
  run(plans, 40, { rows: 60, page: 38, join: 50 });
  for (const rows of [200, 210, 190]) {
    statistics = [rows];
    expect(run(plans, 40, { rows: 40, page: 35, join: 27 })).not.toContain('join');
  }
  statistics = [100_000];
  const ways = run(plans, 40, { rows: 40, page: 35, join: 27 });
  expect(ways.filter((way) => way === 'rows')).toHaveLength(1);
  expect(ways.slice(3)).toEqual(Array.from({ length: 37 }, () => 'join'));
});

test('statements beside others take the quickest way so far, and are not timed', () => {
  let isCalm = true;
  const plans = new AdaptivePlans({
    ...calm,
    isCalm: () => isCalm,
    factsOf: () => ({ areSmall: true, statistics: [] }),
  });
  const statement = otherWays.on({ name: 'r_1', text: 'SELECT 1' }, [page]);
  isCalm = false;
  expect(plans.chooseFor(statement)).toEqual({ statement });
  isCalm = true;
  const late = plans.chooseFor(statement);
  isCalm = false;
  for (let times = 0; times < 5; times++) late.took?.(50);
  isCalm = true;
  for (let times = 0; times < 20; times++) {
    if (times < 8) expect(plans.chooseFor(statement).statement).toEqual(statement);
    const { statement: chosen, took } = plans.chooseFor(statement);
    took?.(chosen.name === page.name ? 30 : 50);
  }
  isCalm = false;
  for (let times = 0; times < 100; times++) {
    expect(plans.chooseFor(statement)).toEqual({ statement: { ...statement, ...page } });
  }
});

test('pages of one list share their times', () => {
  const plans = create();
  const named = (name: string) =>
    pageFamily.on(otherWays.on({ name, text: 'SELECT 1' }, [page]), { name: 'r_1', bounds: [] });
  for (const number of [1, 2, 3, 1, 2, 3, 1, 2]) {
    const name = `r_${number}`;
    const { statement, took } = plans.chooseFor(named(name));
    expect(statement.name).toBe(name);
    took?.(50);
  }
  expect(plans.chooseFor(named('r_4')).statement.text).toBe(page.text);
});

/** A list of values: asks for pages of it, and tells the ways of all runs. */
function listOf(plans: AdaptivePlans) {
  const family = { name: 'r_1', bounds: [1] };
  return (value: string, times: number, took: Readonly<Record<Way, number>>): readonly Way[] =>
    Array.from({ length: times }, (_, offset) => {
      const statement = otherWays.on({ name: `r_${offset}`, text: 'SELECT 1' }, [page, join]);
      const chosen = plans.chooseFor(pageFamily.on(statement, family), [value, String(offset)]);
      const way = chosen.statement.text === page.text ? 'page' : chosen.statement.text === join.text ? 'join' : 'rows';
      chosen.took?.(took[way]);
      return way;
    });
}

test('lists of other values have times of their own, once they were asked for some times', () => {
  const ask = listOf(create());
  const [many, few] = [
    { rows: 60, page: 35, join: 27 },
    { rows: 0.3, page: 0.5, join: 10 },
  ];
  expect(ask('many', 40, many).at(-1)).toBe('join');
  const first = ask('few', 40, few);
  expect(first.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 'join'));
  expect(new Set(first.slice(8))).toEqual(new Set(['rows']));
  // One run is the try of a slower way.
  expect(ask('many', 20, many).filter((way) => way !== 'join').length).toBeLessThan(2);
  expect(new Set(ask('few', 20, few))).toEqual(new Set(['rows']));
});

test('a list that is quick stays so after some runs in a row that took long by chance', () => {
  const ask = listOf(create());
  const took = { rows: 0.3, page: 2.5, join: 10 };
  const disturbed = { rows: 20, page: 30, join: 60 };
  ask('many', 40, { rows: 60, page: 35, join: 27 });
  expect(ask('few', 40, took).at(-1)).toBe('rows');
  ask('few', 4, disturbed);
  expect(ask('few', 40, took).filter((way) => way !== 'rows').length).toBeLessThan(5);
});

test('a list that was quick is tried row by row again soon after a busy time', () => {
  const ask = listOf(create());
  const took = { rows: 0.3, page: 0.8, join: 10 };
  ask('many', 40, { rows: 60, page: 35, join: 27 });
  expect(ask('few', 40, took).at(-1)).toBe('rows');
  expect(ask('few', 80, { ...took, rows: 20 }).filter((way) => way === 'page').length).toBeGreaterThan(40);
  expect(ask('few', 200, took).slice(-40)).not.toContain('page');
});
