import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Caller } from '../../caller.ts';
import { createPlanner, type Planner } from '../../query/planner.ts';
import { magazine } from '../../query/testing/magazine.ts';
import { keepPlans, templateOf } from './template.ts';

const writer: Caller = { accessClass: 'writer', user: '7', role: 'author' };
const admin: Caller = { accessClass: 'admin', user: null, role: 'admin' };

/** What a planner makes of a query, as text: its statement and parameters, or the error. */
function outcome(planner: Planner, caller: Caller, query: string): string {
  try {
    const { plan, parameters } = planner.list(caller, { name: 'articles' }, query);
    return JSON.stringify([plan.statement.text, parameters]);
  } catch (error) {
    return String(error);
  }
}

describe('templates', () => {
  test.each([
    ['filter[views][_gte]=5&sort=id', ['5']],
    ['filter%5Bviews%5D%5b_gte%5d=5', ['5']],
    ['limit=5&filter[author_id][name][_eq]=a.b-c:d~e_f&filter[views][_lt]=7', ['a.b-c:d~e_f', '7']],
    ['filter[views]=5', []],
    ['filter[views][_eq]=null', []],
    ['filter[views][_eq]=', []],
    ['filter[published_at][_gt]=$NOW', []],
    ['filter[title][_eq]=a%20b', []],
    ['filter[title][_eq]=a+b', []],
    ['filter[title][_null]=false', []],
    ['filter[title][_in]=a', []],
    ['FILTER[title][_eq]=a', []],
    ['xfilter[title][_eq]=a', []],
    ['deep[comments][_filter][body][_eq]=a', []],
    ['limit=5', []],
  ])('%s', (query, texts) => {
    const template = templateOf(query);
    expect(template.texts).toEqual(texts);
    let place = 0;
    expect(template.text.replaceAll('\0', () => texts[place++] ?? '')).toBe(query);
  });

  test('differ where anything but a value differs', () => {
    const one = templateOf('filter[views][_gte]=5&limit=1').text;
    expect(templateOf('filter[views][_gte]=6&limit=1').text).toBe(one);
    expect(templateOf('filter[views][_gte]=5&limit=2').text).not.toBe(one);
    expect(templateOf('filter[views][_gt]=5&limit=1').text).not.toBe(one);
  });
});

test.each([
  // Two holes with one text, and a text that also stands where there is no hole.
  ['filter[views][_gte]=5&filter[rating][_lt]=5', 'filter[views][_gte]=6&filter[rating][_lt]=7'],
  ['filter[views][_gte]=5&filter[title]=5', 'filter[views][_gte]=6&filter[title]=5'],
  ['filter[title][_eq]=5&search=5', 'filter[title][_eq]=6&search=5'],
  [
    'filter[title][_eq]=5&deep[comments][_filter][body][_eq]=5',
    'filter[title][_eq]=6&deep[comments][_filter][body][_eq]=5',
  ],
  [
    'filter[keywords][_eq]=5&filter[keywords][_eq]=5&filter[views][_lt]=5',
    'filter[keywords][_eq]=6&filter[keywords][_eq]=5&filter[views][_lt]=5',
  ],
  // One that is no value of the type.
  ['filter[views][_gte]=5', 'filter[views][_gte]=many'],
])('after %s, %s is planned as it would be alone', (first, second) => {
  const known = createPlanner(magazine, keepPlans());
  outcome(known, admin, first);
  expect(outcome(known, admin, second)).toBe(outcome(createPlanner(magazine), admin, second));
});

test('a planner that knows a template plans as one that knows nothing', { timeout: 60_000 }, () => {
  const name = fc.constantFrom(
    'filter[views][_gte]',
    'filter[views][_lt]',
    'filter[author_id][_eq]',
    'filter[author_id][name][_contains]',
    'filter[status][_neq]',
    'filter[published_at][_gt]',
    'filter[rating][_eq]',
    'filter[tags][_some][name][_starts_with]',
    'filter[_or][0][title][_icontains]',
    'filter[_or][1][views][_eq]',
    'filter[title]',
    'filter[title][_in]',
    'filter[title][_null]',
    'filter[year(published_at)][_eq]',
    'filter[password][_eq]',
    'filter[nothing][_eq]',
    'filter[metadata][/a/b][_eq]',
    'filter[metadata][/a][_gt]',
    'filter[metadata][_has]',
    'filter[keywords][_has]',
    'filter[keywords][_eq]',
    'sort',
    'cursor',
    'filter',
    'FILTER[views][_gte]',
    'search',
    'limit',
    'deep[comments][_filter][body][_eq]',
    'aggregate[count]',
    'having[count][_gt]',
  );
  const odd = fc.constantFrom(
    '5',
    '6',
    '7',
    'draft',
    'published',
    'views',
    'null',
    '',
    '$NOW',
    '$100',
    'a%25',
    'a_b',
    '1,2',
    '*',
    '2024-01-01',
    '1.5',
    'true',
    '{"views":{"_eq":"5"}}',
    '-0',
    '007',
    '99999999999',
  );
  // Mostly a few, so that equal texts meet in one request.
  const value = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('5', '6') }, { weight: 1, arbitrary: odd });
  const request = fc.array(fc.tuple(name, value, value), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(request, fc.constantFrom(admin, writer), (parts, caller) => {
      const known = createPlanner(magazine, keepPlans());
      const query = (which: 1 | 2): string => parts.map((part) => `${part[0]}=${part[which]}`).join('&');
      outcome(known, caller, query(1));
      expect(outcome(known, caller, query(2))).toBe(outcome(createPlanner(magazine), caller, query(2)));
      expect(outcome(known, caller, query(1))).toBe(outcome(createPlanner(magazine), caller, query(1)));
    }),
    { numRuns: 3_000 },
  );
});
