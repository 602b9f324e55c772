/** Hidden and unknown names in every place that takes one, and text that wants to become SQL: E01, A01, A05, A07, A11. */
import { join } from 'node:path';
import type { CompiledApi } from '@tablewright/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parameterNames } from '../../packages/runtime/src/query/parse/parse-query-string.ts';
import { deepParameterNames } from '../../packages/runtime/src/query/parse/parse-read.ts';
import { importApi } from '../support/compile.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { expectDefined, fire, type Hit, type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { type Position, positions } from './positions.ts';
import { createStatementLaw, sessionSetting } from './statement-law.ts';

let magazine: Magazine;
let api: CompiledApi;
/** What the server says to the database before anybody asks, and again whenever it looks for drift. */
let fixed: ReadonlySet<string>;
beforeAll(async () => {
  magazine = await startMagazine();
  fixed = new Set(magazine.statements.texts());
  api = await importApi(join(magazine.folder, 'generated'));
});
afterAll(() => magazine?.close());

/** Parameters whose values are numbers, texts that are looked for, or words of a fixed list. */
const nameless: ReadonlySet<string> = new Set([
  ...['search', 'limit', 'offset', 'page', 'cursor', 'meta', 'archived'],
  ...['deep._search', 'deep._limit', 'deep._offset', 'deep._page', 'deep._archived'],
]);

it('every parameter that takes names has its positions in the table', () => {
  const all = [...parameterNames, ...[...deepParameterNames].map((name) => `deep.${name}`), 'deep.'];
  const covered = new Set([...nameless, ...positions.map(({ parameter }) => parameter)]);
  expect(all.filter((name) => name !== 'deep' && !covered.has(name))).toEqual([]);
  expect([...covered].filter((name) => !all.includes(name) && name !== 'path' && name !== 'body')).toEqual([]);
});

/** The part of names and of garbage at all positions that is asked, another one at each commit; ATTACK_ALL=1 asks all. */
const share = process.env.ATTACK_ALL === '1' ? 1 : 0.08;

/** What the public can name at a level. */
function visibleAt(level: string | null): ReadonlySet<string> {
  const readable = api.access.find(({ roles }) => roles.includes('public'))?.collections ?? [];
  if (level === null) return new Set(readable.map(({ collection }) => collection));
  const here = readable.filter(({ collection }) => level === '*' || collection === level);
  return new Set(here.flatMap(({ read = [] }) => read.flatMap(({ fields }) => fields)));
}

/** Every name that there is in the compiled API. */
function allNames(): readonly string[] {
  const names = api.collections.flatMap(({ name, fields, relations }) => [
    name,
    ...[...fields, ...relations].map((one) => one.name),
  ]);
  return [...new Set(names)].sort();
}

/** What two answers are compared by. An entity tag is made of the bytes of the body, which are compared. */
function bytesOf({ status, text, headers }: Hit): string {
  return `${status} ${headers.replace(/\["etag","[^\]]*\]/, '')} ${text}`;
}

/** Names of the same length that nothing has. */
function unknownNames(random: () => number): (length: number) => string {
  const known = new Map<number, string>();
  return (length) => {
    const letters = Array.from({ length }, () => 'jqxz'[Math.floor(random() * 4)]).join('');
    const name = known.get(length) ?? letters;
    known.set(length, name);
    return name;
  };
}

it('hidden and unknown names are answered with the same bytes, and no statement holds a hidden name', async () => {
  magazine.statements.reset();
  const random = seededRandom();
  const unknownOf = unknownNames(random);
  const names = allNames();
  const answers = new Map<Position, Map<string, string>>();
  const shots = positions.flatMap((position) => {
    const visible = visibleAt(position.level);
    const drawn = names.filter(() => random() < share);
    const hidden = drawn.filter((name) => !visible.has(name));
    const unknown = [...new Set(hidden.map(({ length }) => length))].map(unknownOf);
    answers.set(position, new Map());
    return [...drawn, ...unknown].map((name): Shot & { position: Position; name: string } => ({
      ...position.shot(name),
      position,
      name,
    }));
  });
  const placed = new Map<Shot, { position: Position; name: string }>(shots.map((shot) => [shot, shot]));
  const fired = await swarm(magazine.url, shots, (shot, hit) => {
    const place = placed.get(shot);
    if (place === undefined || shot.method === 'OPTIONS') return;
    if (shot.method !== 'HEAD') expectDefined(shot, hit);
    answers.get(place.position)?.set(place.name, bytesOf(hit));
  });
  console.info(`${fired} requests at ${positions.length} positions`);
  for (const [position, given] of answers) {
    const visible = visibleAt(position.level);
    for (const [name, answer] of given) {
      if (visible.has(name)) continue;
      const told = `${position.shot(name).path} ${position.shot(name).body ?? ''}`;
      const unknown = unknownOf(name.length);
      expect(answer, told).toBe(given.get(unknown)?.replaceAll(unknown, name));
    }
  }
  const law = createStatementLaw(api, 'public');
  expect([...new Set(ownStatements().flatMap(law))]).toEqual([]);
  expect(magazine.statements.errors()).toEqual([]);
}, 300_000);

it('names that can be read are heard at every position', async () => {
  for (const { shot, known, level } of positions) {
    const hit = await fire(magazine.url, shot(known));
    expect(hit.status, `${shot(known).path} ${shot(known).body ?? ''} -> ${hit.text.slice(0, 200)}`).toBe(200);
    if (level !== null && known !== 'zzz') expect([...visibleAt(level)]).toContain(known);
  }
});

/** The statements of requests since the last reset; without what new connections set. */
function ownStatements(): readonly string[] {
  return magazine.statements.texts().filter((text) => !fixed.has(text) && !sessionSetting.test(text));
}

const garbage = [
  ...['id;--', 'id" desc', 'id"', '`', "'", 'id)', '(select 1)', 't0.id', 't0.password', 'users.password', '"a"."b"'],
  ...['a.b.c.d.e.f', 'toString', '__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'іd', 'ID', 'id ', ' id'],
  ...['$1', '$NOW', '-', '--', '*', '**', '.', '..', 'id.', '.id', '%', '_', '_and', '_or', '_not', '_eq', 'id::text'],
  ...['count(*)', 'count(id)', 'year(id)', 'sleep(9)', 'x'.repeat(3000), 'a.'.repeat(50), '😀', '\u202e', 'null', '0'],
  ...[
    'item:orders',
    'item:section_headings',
    'item:',
    '{',
    '}',
    '[',
    ']',
    '[]',
    '[0]',
    '\\',
    '\u2028',
    '\n',
    '/*',
    '*/',
  ],
];

it('garbage in the place of a name is refused, and no text of a request reaches a statement', async () => {
  magazine.statements.reset();
  const marker = `zq${Date.now().toString(36)}`;
  const parts = [...garbage, ...garbage.map((name) => `${marker}${name}`)];
  const random = seededRandom();
  const shots = positions.flatMap((position) => parts.filter(() => random() < share).map(position.shot));
  const values = ['title', 'slug', 'body', 'keywords', 'metadata'].flatMap((field) =>
    ['_eq', '_contains', '_in', '_nin', '_starts_with', '_iends_with', '_between'].map((operator) => ({
      path: `/items/articles?fields=id&filter[${field}][${operator}]=${marker}'"$1,${marker};--`,
    })),
  );
  const fired = await swarm(magazine.url, [...shots, ...values], (shot, hit) => {
    if (shot.method === 'HEAD') return;
    if (hit.status !== 404 || !shot.path.startsWith('/items/')) expectDefined(shot, hit);
  });
  const texts = ownStatements();
  console.info(`${fired} requests, ${texts.length} statements prepared`);
  expect(texts.length).toBeGreaterThan(10);
  const law = createStatementLaw(api, 'public');
  expect([...new Set(texts.flatMap(law))]).toEqual([]);
  expect(texts.filter((text) => text.includes(marker))).toEqual([]);
  expect(magazine.statements.errors()).toEqual([]);
}, 300_000);

it('wildcards give what can be read and nothing of what cannot', async () => {
  for (const path of [
    '/items/articles?fields=*.*.*&limit=20',
    '/items/authors?fields=*.*',
    '/items/tags?fields=*.*.*',
  ]) {
    const { status, text } = await fire(magazine.url, { path });
    expect(status).toBe(200);
    expect(text).not.toMatch(/"(email|country|user_id|joined_on|author_email|created_by|released)":/);
  }
});
