/** Requests of all classes through Varnish while notes change: none may get the answer of another class, or an old one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, asking } from '../support/platform.ts';
import { audienceOf, audiences, type CallerClass, noteCount, tokenOf } from './notes.ts';
import { type CaseRow, percentile } from './report.ts';

interface Drawn {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: CallerClass;
  /** Key of the note, for a read by key. */
  readonly id?: number;
  /** Keys of which all readable ones are answered. */
  readonly from: number;
}

interface NoteItem {
  readonly id: number;
  readonly audience: string;
  readonly version: number;
}

const pick = <T>(items: readonly T[]): T => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
};

/** Forms in which a caller may be named, or not be. */
function formsOf(caller: CallerClass): readonly { readonly query?: string; readonly headers?: Drawn['headers'] }[] {
  if (caller === 'public')
    return [
      {},
      {},
      {},
      { headers: { authorization: '' } },
      { headers: { cookie: 'other=1' } },
      { headers: { 'x-forwarded-host': 'poison.example', 'x-http-method-override': 'DELETE' } },
      { headers: { 'accept-language': 'de', accept: 'text/html', 'x-request-id': 'poison' } },
      { query: 'access_token=' },
    ];
  const token = tokenOf(caller);
  return [
    { headers: { authorization: `Bearer ${token}` } },
    { headers: { authorization: `bearer   ${token}` } },
    { query: `access_token=${token}` },
    { query: `%61ccess_token=${token}` },
    { query: `access%5Ftoken=${token}` },
    { query: `access_token=${token}`, headers: { authorization: `Bearer ${token}` } },
  ];
}

function draw(): Drawn {
  const caller = pick(['public', 'public', 'public', 'reader', 'editor'] as const);
  const { query, headers = {} } = pick(formsOf(caller));
  const id = Math.floor(Math.random() * noteCount);
  const isOne = Math.random() < 0.6;
  const from = isOne || Math.random() < 0.5 ? -1 : pick([9, 29, 49]);
  const parts = [
    'fields=id,audience,version',
    ...(isOne ? [] : ['limit=-1', ...(from < 0 ? [] : [`filter[id][_gt]=${from}`])]),
    ...(query === undefined ? [] : [query]),
  ];
  const path = `/items/notes${isOne ? `/${id}` : ''}?${parts.join('&')}`;
  return { path, headers, caller, from, ...(isOne && { id }) };
}

const allowed = (caller: CallerClass, id: number): boolean =>
  (audiences[caller] as readonly string[]).includes(audienceOf(id));

/** True if an answer is that of the class of its caller. */
function isOwn({ caller, id, from }: Drawn, { status, json }: Answer): boolean {
  if (id !== undefined) {
    if (status !== 200) return !allowed(caller, id);
    return allowed(caller, id) && json.data.id === id && json.data.audience === audienceOf(id);
  }
  const expected = Array.from({ length: noteCount }, (_, key) => key).filter(
    (key) => key > from && allowed(caller, key),
  );
  const found = (json.data as readonly NoteItem[]).map((note) => note.id).sort((a, b) => a - b);
  return status === 200 && JSON.stringify(found) === JSON.stringify(expected);
}

/** Sends so many requests, at most so many at once, and returns what it has seen. */
export async function readCachedNotes(url: string, count: number): Promise<readonly CaseRow[]> {
  const { ask } = asking(url);
  const commits = new Map<number, { readonly version: number; readonly at: number }[]>();
  const ages: number[] = [];
  const seen = { foreign: 0, failed: 0, hits: 0, shared: 0, writes: 0 };
  let sent = 0;

  async function read(): Promise<void> {
    while (sent++ < count) {
      const drawn = draw();
      const start = performance.now();
      const answer = await ask(drawn.path, { headers: drawn.headers });
      if (answer.status >= 500) seen.failed++;
      else if (!isOwn(drawn, answer)) seen.foreign++;
      // Others may come from a replica that lags, as that is allowed to them.
      if (answer.headers.get('cache-control')?.startsWith('public') !== true) continue;
      seen.shared++;
      if (answer.headers.get('x-varnish')?.includes(' ') === true) seen.hits++;
      const items: readonly NoteItem[] = [answer.json.data].flat();
      for (const { id, version } of items) {
        const missed = commits.get(id)?.find((commit) => commit.version > version);
        ages.push(missed === undefined ? 0 : Math.max(0, start - missed.at));
      }
    }
  }

  async function write(): Promise<void> {
    while (sent < count) {
      const id = Math.floor((Math.random() * noteCount) / 3) * 3;
      const version = (commits.get(id)?.at(-1)?.version ?? 0) + 1;
      const changed = await ask(`/items/notes/${id}`, { method: 'PATCH', token: tokenOf('editor'), body: { version } });
      if (changed.status !== 200) throw new Error(`A write was answered with ${changed.status}.`);
      commits.set(id, [...(commits.get(id) ?? []), { version, at: performance.now() }]);
      seen.writes++;
      await sleep(100);
    }
  }

  await Promise.all([...Array.from({ length: 8 }, read), write()]);
  const oldest = Math.max(...ages);
  const share = Math.round((100 * seen.hits) / Math.max(1, seen.shared));
  return [
    {
      name: `Varnish, ${count.toLocaleString('en')} random requests of all classes`,
      expected: '0 answers of another class, 0 failed',
      measured: `${seen.foreign} of another class, ${seen.failed} failed; ${share} % of public answers from the cache`,
      isMet: seen.foreign === 0 && seen.failed === 0 && share > 20,
    },
    {
      name: `age of public answers, ${seen.writes} writes, a standby stands still`,
      expected: 'stale <= 1 s after commit',
      measured: `p99 ${Math.round(percentile(ages, 99))} ms, at most ${Math.round(oldest)} ms`,
      isMet: oldest <= 1_000,
      isLate: true,
    },
  ];
}
