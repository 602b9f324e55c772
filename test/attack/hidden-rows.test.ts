/**
 * Two servers whose rows differ in what is hidden answer refused writes in the same bytes: random rules, rows and requests.
 * A refusal may tell that a unique key is taken by a hidden row, where nothing else refuses the request: by `unique`, or by
 * FORBIDDEN for an item that `on_conflict` or an object below another item finds by its key.
 *
 * Rare ones still differ: links that another step changes, to a row that an earlier step hides, or to a new item whose key a
 * hidden row has; many-to-many targets that the request writes; steps that are refused for constraints alone. The seed is the
 * same unless ATTACK_SEED says another one. HIDDEN_REQUESTS sends so many under each of two sets of rules.
 */
import { afterEach, expect, it } from 'vitest';
import type { Answer } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { seededRandom } from '../support/swarm.ts';

const requests = Number(process.env.HIDDEN_REQUESTS ?? 120);
const random = seededRandom(1);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const chance = (share: number): boolean => random() < share;
const maybe = <T>(share: number, make: () => T): T | undefined => (chance(share) ? make() : undefined);
const some = <T>(make: () => T): T[] => Array.from({ length: pick([0, 1, 2]) }, make);

const sql = `
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(9) NOT NULL,
    parent integer REFERENCES entries, size integer, UNIQUE (list, name));
  CREATE TABLE kinds (id integer PRIMARY KEY, open boolean NOT NULL, label varchar(9) NOT NULL UNIQUE);
  CREATE TABLE parts (id integer PRIMARY KEY, entry integer REFERENCES entries, kind integer REFERENCES kinds,
    size integer, code varchar(9) UNIQUE);
  CREATE TABLE tags (id integer PRIMARY KEY, hidden boolean NOT NULL, name varchar(9) NOT NULL UNIQUE);
  CREATE TABLE entries_tags (entry integer REFERENCES entries, tag integer REFERENCES tags, PRIMARY KEY (entry, tag));`;

const openList = '{ list: { open: { _eq: true } } }';
const isOpen = '{ open: { _eq: true } }';
const isShown = '{ hidden: { _eq: false } }';
const isFree = `{ _or: [{ entry: { _null: true } }, { entry: ${openList} }] }`;
const positive = '{ size: { _gt: 0 } }';
const positiveParts = `{ parts: { _some: ${positive} } }`;
const entryRules = [
  ...[openList, positive, positiveParts, '{ name: { _neq: d } }', `{ parent: ${positive} }`],
  ...['{ parts: { _none: { size: { _lt: 0 } } } }', "{ 'count(parts)': { _lte: 1 } }"],
  ...['{ tags: { _some: { name: { _neq: d } } } }', '{ parent: { parent: { _null: true } } }'],
  ...[`{ _or: [${positive}, ${positiveParts}] }`, `{ _or: [{ parent: { _null: true } }, { parent: ${openList} }] }`],
];
const label = '{ label: { _neq: d } }';
const linkRules = [`{ entry: ${positive} }`, `{ entry: ${openList} }`, `{ kind: ${label} }`];

/** Rules of an action, at times two. `filter` is that of a change. */
function rulesOf(conditions: readonly string[], filter?: string): string {
  const rule = (): string => {
    const drawn = some(() => pick(conditions));
    const validation = drawn.length === 0 ? '{}' : `{ _and: [${drawn.join(', ')}] }`;
    return `{ fields: '*', ${filter === undefined ? '' : `filter: ${filter}, `}validation: ${validation} }`;
  };
  return chance(0.15) ? `[${rule()}, ${rule()}]` : rule();
}

function permissions(): string {
  const collection = (name: string, shown: string, conditions: readonly string[]): string => `${name}:
      read: { fields: '*', filter: ${shown} }
      create: ${rulesOf(conditions)}
      update: ${rulesOf(conditions, shown)}
      delete: { filter: ${shown} }`;
  return `
permissions:
  public:
    lists: { read: true, create: true }
    ${collection('entries', openList, entryRules)}
    ${collection('kinds', isOpen, [label, isOpen])}
    ${collection('parts', isFree, [positive, '{ code: { _neq: d } }', ...linkRules])}
    ${collection('tags', isShown, ['{ name: { _neq: d } }', isShown])}
    entries_tags:
      { read: { fields: '*', filter: { entry: ${openList}, tag: ${isShown} } }, create: true, delete: true }
`;
}

/** Rows that are shown have keys up to 3, hidden ones those behind; one of each is not there. */
const shownRows = `
  TRUNCATE entries_tags, parts, entries, kinds, tags, lists;
  INSERT INTO lists VALUES (1, true), (2, false);
  INSERT INTO entries VALUES (1, 1, 'a', NULL, 1), (2, 1, 'b', 1, 0), (3, 1, 'c', NULL, NULL);
  INSERT INTO kinds VALUES (1, true, 'a'), (2, true, 'b');
  INSERT INTO parts VALUES (1, 1, 1, 1, 'a'), (2, 1, 2, -1, 'b'), (3, NULL, NULL, 0, NULL);
  INSERT INTO tags VALUES (1, false, 'a'), (2, false, 'b');
  INSERT INTO entries_tags VALUES (1, 1), (2, 2);`;

const names = ['a', 'b', 'c', 'd'];

function hiddenRows(): string {
  const keys = (all: readonly number[]): number[] => all.filter(() => chance(0.6));
  const [entries, kinds, tags] = [keys([4, 5, 6]), keys([4, 5]), keys([4, 5])];
  const parts = entries.length === 0 ? [] : keys([4, 5]);
  const shift = pick([0, 1, 2, 3]);
  const letter = (key: number): string => `'${names[key % names.length]}'`;
  const rows = [
    ...entries.map((key) => ['entries', key, 2, letter(key + shift), pick(['NULL', 1]), pick(['NULL', 0, 1])]),
    ...kinds.map((key) => ['kinds', key, 'false', letter(key + 2)]),
    ...parts.map((key) => ['parts', key, pick(entries), pick([1, 'NULL', ...kinds]), pick([-1, 1]), letter(key + 2)]),
    ...tags.map((key) => ['tags', key, 'true', letter(key + 2)]),
  ];
  return rows.map(([table, ...values]) => `INSERT INTO ${table} VALUES (${values.join(', ')});`).join(' ');
}

const newKey = (): number => pick([1, 2, 3, 4, 7, 9]);
const anyKey = (): number => pick([1, 2, 3, 4, 5, 6, 7, 8]);
/** A link by key, or at times an object in its place. */
const linkOr = (make: () => Payload): unknown => maybe(0.4, () => (chance(0.3) ? make() : anyKey()));
type Payload = Readonly<Record<string, unknown>>;

/** Members of a to-many relation: a list of all, or what is made, changed and removed. */
function members(make: () => Payload, links = 0.25): unknown {
  if (chance(0.55)) return some(() => (chance(links) ? anyKey() : make()));
  return {
    create: maybe(0.6, () => some(make)),
    update: maybe(0.4, () => some(() => ({ ...make(), id: newKey() }))),
    delete: maybe(0.2, () => [anyKey()]),
  };
}

const plainEntry = (): Payload => {
  return { id: newKey(), list: pick([1, 1, 1, 2, 2, 3]), name: pick(names), size: pick([0, 1, 1, null]) };
};

function entry(): Payload {
  return {
    ...plainEntry(),
    parent: maybe(0.4, () => pick([null, anyKey(), anyKey(), plainEntry()])),
    // A value for the link back to the item above may contradict it.
    parts: maybe(0.4, () => members(() => ({ ...part(), kind: linkOr(kind), entry: maybe(0.05, anyKey) }))),
    tags: maybe(0.25, () => members(tag, 0.5)),
  };
}

const part = (): Payload => {
  return { id: maybe(0.9, newKey), size: maybe(0.7, () => pick([-1, 0, 1])), code: maybe(0.5, () => pick(names)) };
};
const kind = (): Payload => ({ id: newKey(), label: pick(names), open: chance(0.7) });
const tag = (): Payload => {
  return { id: maybe(0.9, newKey), name: maybe(0.8, () => pick(names)), hidden: maybe(0.8, () => chance(0.3)) };
};

const made: Readonly<Record<string, () => Payload>> = {
  entries: entry,
  parts: () => ({ ...part(), kind: linkOr(kind), entry: linkOr(entry) }),
  tags: () => ({ ...tag(), entries: maybe(0.2, () => members(entry, 0.5)) }),
  kinds() {
    const parts = maybe(0.3, () => members(() => ({ ...part(), entry: linkOr(plainEntry) })));
    return { ...kind(), parts };
  },
  lists() {
    const entries = maybe(0.8, () => members(() => ({ ...entry(), list: maybe(0.05, () => pick([1, 2, 3])) })));
    return { id: pick([1, 2, 3]), open: maybe(0.5, () => chance(0.6)), entries };
  },
};

/** Unique keys by which `on_conflict` finds items. */
const conflicts: Readonly<Record<string, readonly string[]>> = {
  entries: ['id', 'list,name'],
  parts: ['id', 'code'],
  tags: ['id', 'name'],
  kinds: ['id', 'label'],
  lists: ['id'],
};

function request(): { readonly method: string; readonly path: string; readonly body?: unknown } {
  const path = pick(['entries', 'entries', 'entries', 'parts', 'tags', 'kinds', 'lists']);
  const make = made[path] ?? tag;
  const change = (): Payload =>
    Object.fromEntries(Object.entries(make()).filter(([name]) => name !== 'id' && chance(0.6)));
  const two = [...new Set([anyKey(), anyKey()])];
  return pick([
    () => ({ method: 'POST', path, body: make() }),
    () => ({ method: 'POST', path, body: [make(), make()] }),
    () => {
      const body = chance(0.5) ? make() : [make(), make()];
      return { method: 'POST', path: `${path}?on_conflict=${pick(conflicts[path] ?? ['id'])}`, body };
    },
    () => ({ method: 'PATCH', path: `${path}/${anyKey()}`, body: change() }),
    () => ({ method: 'PATCH', path, body: two.map((id) => ({ ...change(), id })) }),
    () => ({ method: 'PATCH', path, body: { keys: two, data: change() } }),
    () => ({ method: 'PATCH', path, body: { query: { filter: { id: { _in: two } } }, data: change() } }),
    () => ({ method: 'DELETE', path, body: two }),
  ])();
}

/** Text by which answers are compared. Those about taken keys count as equal, as do those about hidden rows that link others. */
function told({ status, text, json }: Answer): string {
  const errors: readonly { readonly extensions: { readonly type?: string } }[] = json?.errors ?? [];
  const isTaken = errors.some(({ extensions: { type } }) => type === 'unique');
  return isTaken || text.includes('is linked with other items') ? 'taken' : `${status} ${text}`;
}

/** True for an answer that a hidden row has a key. Items that a request finds by keys are FORBIDDEN where these are hidden. */
function tellsOfKey(answer: Answer, path: string, body: string): boolean {
  const findsKeys = path.includes('on_conflict') || /[[{].*[[{].*"id":[456]\b/.test(body);
  return told(answer) === 'taken' || (findsKeys && answer.status === 403);
}

const servers: ServedProject[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

it.each([1, 2])('refusals tell nothing of hidden rows, under random rules %i', async () => {
  const parts = { sql, permissions: permissions(), portable: true, disturbed: true } as const;
  for (const _ of [1, 2]) servers.push(await serveProject(parts));
  for (let sent = 0; sent < requests; sent += 1) {
    const { method, path, ...body } = request();
    const rows = servers.map(hiddenRows);
    const send = async (server: ServedProject, index: number): Promise<Answer> => {
      await server.rows(`${shownRows}${rows[index]}`);
      return server.ask(`/items/${path}`, { method, ...body });
    };
    const answers = await Promise.all(servers.map(send));
    const about = [parts.permissions, ...rows, method, path, JSON.stringify(body), ...answers.map(told)].join('\n');
    const isSame = new Set(answers.map(told)).size === 1;
    const tells = answers.map((answer) => tellsOfKey(answer, path, JSON.stringify(body)));
    expect(isSame || answers.every(({ status }, index) => status < 300 || tells[index]), about).toBe(true);
    expect(isSame || tells.includes(true), about).toBe(true);
    expect(Math.max(...answers.map(({ status }) => status)), about).toBeLessThan(500);
  }
});
