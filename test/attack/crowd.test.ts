/**
 * Users beside clients that do not read and clients that ask for as much as they may: no request of theirs fails, answers
 * are little later than usual, memory is bounded, and afterwards all is as before. CROWD_SECONDS=60 is the full run.
 *
 * How late answers are during the attack is judged in every full run. In others it is where nothing else keeps the machine
 * busy, in rounds of which one has to keep the bound.
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { bundled, usualPasswords } from '../support/bundled.ts';
import { createSystemDatabase, onMariadb } from '../support/contract-database.ts';
import { type Crowd, startAttackers, startUsers, type Visit } from '../support/crowd.ts';
import { noMariadb, withoutMariadb } from '../support/mariadb.ts';
import { adminToken, asking, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { startSample } from '../support/sample.ts';

/** How long the attack takes, and what is measured before and behind it, in seconds. */
const attackSeconds = Number(process.env.CROWD_SECONDS ?? 4);
const quietSeconds = Math.max(6, attackSeconds / 4);
/** How long it takes to see that other work is on the machine, and how long most answers take there, in seconds. */
const sharedSeconds = 2;
/** How long the server has to be itself again, in seconds. */
const recoverySeconds = 5;
/** Rounds of which one has to keep the bound of how late answers are. The full run has one. */
const isFull = process.env.CROWD_SECONDS !== undefined;
const mostRounds = isFull ? 1 : 3;
/** The part of the processors' time that is taken before and behind the attack where other work is on the machine. */
const mostBusy = 0.4;
/** How many times as late as usual 99 of 100 sign-ins and writes may be during the attack, and after it. */
const mostTimes = 3;

const users = Array.from({ length: 50 }, (_, number) => ({
  email: `user${number}@example.com`,
  password: `the password of ${number}`,
}));

/** Latencies below this are as good as none: how long they take is decided by whatever else the machine does. */
const noticeableMs = 100;
/** Memory in megabytes: what the process may take beyond what it had, while it is attacked and when it is left alone. */
const mostGrowth = 500;
const mostKept = 100;

interface Server {
  readonly platform: Pick<Platform, 'url' | 'pid'>;
  readonly adminToken: string;
  close(): Promise<void>;
}

const left: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of left.splice(0).reverse()) await close();
});

/** Tables as the sample has them, for servers that are no part of it, with as much to read. */
function articlesSql(): string {
  const list = (count: number, row: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => row(n + 1)).join();
  const text = (length: number, n: number) => `'${`text ${n} `.repeat(length / 8)}'`;
  return `
    CREATE TABLE articles (id integer PRIMARY KEY, title varchar(100), body text);
    CREATE TABLE comments (id integer PRIMARY KEY, article_id integer, body text, FOREIGN KEY (article_id) REFERENCES articles (id));
    CREATE TABLE tags (id integer PRIMARY KEY, name varchar(100));
    CREATE TABLE articles_tags (
      article_id integer, tag_id integer, PRIMARY KEY (article_id, tag_id),
      FOREIGN KEY (article_id) REFERENCES articles (id), FOREIGN KEY (tag_id) REFERENCES tags (id));
    INSERT INTO articles VALUES ${list(100, (n) => `(${n}, 'Title ${n}', ${text(1_000, n)})`)};
    INSERT INTO comments VALUES ${list(2_000, (n) => `(${n}, ${(n % 100) + 1}, ${text(200, n)})`)};
    INSERT INTO tags VALUES ${list(40, (n) => `(${n}, 'Tag ${n}')`)};
    INSERT INTO articles_tags VALUES ${list(600, (n) => `(${(n % 100) + 1}, ${((n * 7 + Math.floor(n / 100)) % 40) + 1})`)};`;
}

const rules = ['articles', 'comments', 'tags', 'articles_tags'].map((name) => `    ${name}: { read: true }`).join('\n');
const permissions = `roles:\n  reader: { app: true }\npermissions:\n  public:\n${rules}\n  reader:\n${rules}\n`;

async function serveOwn(): Promise<Server> {
  const database = await createSystemDatabase(articlesSql());
  const project = await createProject();
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${project.folder}/permissions.yaml`, permissions);
  const platform = await startUnchecked(project.folder, database.url, usualPasswords);
  return {
    platform,
    adminToken,
    async close() {
      await platform.stop();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}

const databases = [
  { name: 'PostgreSQL', missing: false, serve: serveOwn },
  {
    name: `MariaDB${withoutMariadb}`,
    missing: noMariadb,
    async serve() {
      const back = onMariadb();
      return serveOwn().finally(back);
    },
  },
  {
    name: 'the embedded database, as npm start serves the sample',
    missing: false,
    async serve(): Promise<Server> {
      // As users have it: other tests spare the second compilation of the database.
      const sample = await startSample({ environment: { NODE_OPTIONS: bundled().join(' ') } });
      return { platform: sample, adminToken: sample.adminToken, close: () => sample.close() };
    },
  },
];

/** Makes the users, with a role that may change its own user. */
async function makeUsers({ platform, adminToken: token }: Server): Promise<void> {
  const { ask } = asking(platform.url);
  const roles = await ask('/roles?filter[name][_eq]=reader&fields=id', { token });
  const [known] = roles.json.data;
  const role: string =
    known?.id ??
    (await ask('/roles', { method: 'POST', token, body: { name: 'reader', app_access: true } })).json.data.id;
  const body = users.map((user) => ({ ...user, role, status: 'active' }));
  const made = await ask('/users?fields=id', { method: 'POST', token, body });
  expect(made.status, made.text).toBe(200);
}

/** Megabytes that a process has in memory. */
async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The process that serves: `npm start` runs it through others. */
async function servingProcess(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const [child] = children.trim().split(' ').filter(Boolean);
  return child === undefined ? pid : servingProcess(Number(child));
}

/** What one phase came to: times in milliseconds, of sign-ins and writes together and by kind, and what failed. */
function summary(visits: readonly Visit[]) {
  const percentile = (kinds: readonly Visit['kind'][], part: number): number => {
    const times = visits.filter(({ kind }) => kinds.includes(kind)).map(({ ms }) => ms);
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
  };
  const statuses = new Map<number, number>();
  for (const { status } of visits) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return {
    count: visits.length,
    late: percentile(['sign-in', 'write'], 0.99),
    signIn: percentile(['sign-in'], 0.99),
    write: percentile(['write'], 0.99),
    middle: percentile(['write'], 0.5),
    statuses,
    failed: visits.filter(({ status }) => status !== 200),
  };
}

async function phase(crowd: Crowd, seconds: number): Promise<readonly Visit[]> {
  await crowd.visits();
  await sleep(seconds * 1_000);
  return crowd.visits();
}

type Summary = ReturnType<typeof summary>;

/**
 * A phase without attackers, and whether other work kept the machine busy meanwhile: then it is short, because only the
 * middle of its answers is looked at.
 */
async function peace(crowd: Crowd): Promise<{ readonly summary: Summary; readonly isShared: boolean }> {
  const spent = () => {
    const times = cpus().map((cpu) => cpu.times);
    const idle = times.reduce((sum, time) => sum + time.idle, 0);
    return { idle, all: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) };
  };
  const before = spent();
  const isBusy = (): boolean => {
    const after = spent();
    return 1 - (after.idle - before.idle) / (after.all - before.all) > mostBusy;
  };
  const visits = await phase(crowd, sharedSeconds);
  if (!isFull && isBusy()) return { summary: summary(visits), isShared: true };
  const more = await phase(crowd, quietSeconds - sharedSeconds);
  return { summary: summary([...visits, ...more]), isShared: isBusy() };
}

/** One attack, and how the server was before, during and after it. */
interface Round {
  readonly quiet: Summary;
  readonly attacked: Summary;
  readonly recovered: Summary;
  readonly greedy: Summary;
  readonly isShared: boolean;
  /** Megabytes in memory before the attack, and at most during it. */
  readonly before: number;
  readonly most: number;
}

async function attackOnce(url: string, pid: number, normal: Crowd): Promise<Round> {
  const quiet = await peace(normal);
  const before = await residentOf(pid);
  const attack = await startAttackers({ url, slow: 64, greedy: 64 });
  let most = 0;
  const watching = setInterval(async () => {
    most = Math.max(most, await residentOf(pid).catch(() => 0));
  }, 250);
  try {
    const attacked = summary(await phase(normal, attackSeconds));
    const greedy = summary(await attack.visits());
    await attack.stop();
    await sleep(recoverySeconds * 1_000);
    const recovered = await peace(normal);
    const isShared = quiet.isShared || recovered.isShared;
    return { quiet: quiet.summary, attacked, greedy, recovered: recovered.summary, isShared, before, most };
  } finally {
    clearInterval(watching);
    await attack.stop();
  }
}

/** True if answers are in time, compared with those of a phase without attackers. */
function isInTime({ late }: Summary, quiet: Summary): boolean {
  return late < mostTimes * Math.max(quiet.late, noticeableMs);
}

function printed({ quiet, attacked, recovered, greedy, isShared, before, most }: Round): string {
  const told = ({ late, signIn, write, middle, count, statuses }: Summary) =>
    `99 of 100 within ${late.toFixed(0)} ms: sign-in ${signIn.toFixed(0)} ms, write ${write.toFixed(0)} ms (median ${middle.toFixed(0)}), ${count} requests ${JSON.stringify([...statuses])}`;
  return [
    `quiet: ${told(quiet)}`,
    `attacked: ${told(attacked)}`,
    `recovered: ${told(recovered)}`,
    `attackers: ${greedy.count} requests ${JSON.stringify([...greedy.statuses])}`,
    `resident: ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB${isShared ? '; other work keeps the machine busy' : ''}`,
  ].join('\n');
}

describe.each(databases)('$name', ({ missing, serve }) => {
  it.skipIf(missing)(
    'serves its users beside greedy clients and clients that do not read',
    async () => {
      const server = await serve();
      left.push(() => server.close());
      const { url } = server.platform;
      await makeUsers(server);
      const pid = await servingProcess(server.platform.pid);
      // GraphQL is loaded by the first document, once in the life of a server.
      const document = { query: '{ articles(limit: 1) { id } }' };
      expect((await asking(url).ask('/graphql', { method: 'POST', body: document })).status).toBe(200);
      const normal = await startUsers({ url, users });
      left.push(() => normal.stop());
      await sleep(3_000);
      const rounds: Round[] = [];
      const isMissed = ({ attacked, quiet, isShared }: Round): boolean =>
        (isFull || !isShared) && !isInTime(attacked, quiet);
      // Other work makes some answers late by itself: then a server that does not recover is one whose writes are late in
      // the middle, too, and in every round.
      const isLate = ({ recovered, quiet, isShared }: Round): boolean =>
        !isInTime(recovered, quiet) &&
        (isFull || !isShared || recovered.middle > mostTimes * Math.max(quiet.middle, noticeableMs));
      do {
        const round = await attackOnce(url, pid, normal);
        rounds.unshift(round);
        console.info(printed(round));
        const failed = [round.attacked.failed, round.recovered.failed].map((visits) => visits.slice(0, 3));
        expect(failed).toEqual([[], []]);
        expect(isLate(round) && (isFull || !round.isShared)).toBe(false);
        expect(round.most - round.before).toBeLessThan(mostGrowth);
      } while (rounds.slice(0, 1).some((round) => isMissed(round) || isLate(round)) && rounds.length < mostRounds);
      await normal.stop();
      const before = rounds.at(-1)?.before ?? 0;
      await expect.poll(async () => (await residentOf(pid)) - before, { timeout: 30_000 }).toBeLessThan(mostKept);
      expect([rounds.every(isMissed), rounds.every(isLate)], rounds.map(printed).join('\n\n')).toEqual([false, false]);
    },
    300_000,
  );
});
