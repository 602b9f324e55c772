/** The bench of accounts: what a token costs, how fast people sign in, and what time tells of who there is. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signMailed } from '../packages/runtime/src/auth/mailed-tokens/mailed-token.ts';
import { createTokens } from '../packages/runtime/src/auth/sessions/tokens.ts';
import { createPasswords } from '../packages/runtime/src/passwords/passwords.ts';
import { createProject, type Platform, runPlatform, secret, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { installSystem } from '../test/support/system.ts';
import { driveOwn, type Effort } from './load.ts';
import { readConsumption } from './processes.ts';
import { median, sameness } from './statistics.ts';

/** Options of the command line. */
export interface AccountsOptions {
  readonly rounds: number;
  readonly effort: Effort;
}

/** The most microseconds of processor time that a verified token may add to a request. */
const mostTokenMicros = 25;
/** Users who sign in at the same time, each many times. */
const signingIn = 32;
/** Samples of each kind of account per endpoint. */
const samples = 200;

const password = 'a password of benchmarks';
const docs = Array.from({ length: 1_000 }, (_, index) => `/items/docs/${index + 1}`);

interface AccountsStage {
  readonly server: Platform;
  readonly users: readonly { readonly id: string; readonly email: string }[];
  readonly staticToken: string;
  close(): Promise<void>;
}

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchAccounts({ rounds, effort }: AccountsOptions): Promise<void> {
  say('starting PostgreSQL and the server');
  const stage = await setAccountsStage();
  try {
    await benchTokens(stage, rounds, effort);
    await benchSignIn(stage, effort.seconds);
    await benchTiming(stage);
  } finally {
    await stage.close();
  }
}

async function setAccountsStage(): Promise<AccountsStage> {
  const postgres = await startPostgres();
  const { url } = await createDatabaseOn(postgres.url);
  await installSystem(url);
  const hashed = await createPasswords().hash(password);
  const users = Array.from({ length: signingIn }, (_, index) => ({
    id: randomUUID(),
    email: `user${index}@example.com`,
  }));
  const staticToken = `static-${randomUUID()}`;
  const role = randomUUID();
  await withClient(url, async (client) => {
    await client.query(`CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, words integer);
INSERT INTO docs SELECT i, 'Title ' || i, repeat('text ', 20), i % 7 FROM generate_series(1, 1000) AS i`);
    await client.query(`INSERT INTO platform.platform_roles (id, name) VALUES ($1, 'member')`, [role]);
    await client.query('INSERT INTO platform.platform_settings (auth_login_attempts) VALUES (NULL)');
    for (const { id, email } of users) {
      const values = [id, email, hashed, role, email === users[0]?.email ? staticToken : null];
      await client.query(
        'INSERT INTO platform.platform_users (id, email, password, role, token) VALUES ($1, $2, $3, $4, $5)',
        values,
      );
    }
    await client.query('VACUUM ANALYZE');
  });
  const project = await createProject();
  const permissions =
    'roles: { member: {} }\npermissions: { public: { docs: { read: true } }, member: { docs: { read: true } } }\n';
  await writeFile(join(project.folder, 'permissions.yaml'), permissions);
  const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
  const many = '1000000';
  const limits = {
    RATE_LIMITER_AUTH_ACCOUNT_POINTS: many,
    RATE_LIMITER_AUTH_ADDRESS_POINTS: many,
    RATE_LIMITER_AUTH_MAIL_POINTS: many,
  };
  const server = await startUnchecked(project.folder, url, { NODE_ENV: 'production', ...limits }, []);
  return {
    server,
    users,
    staticToken,
    async close() {
      await server.stop();
      await project.remove();
      await postgres.stop();
    },
  };
}

/** The same items by their keys: without a token, with that of a session, and with a static one. */
async function benchTokens(
  { server, users, staticToken }: AccountsStage,
  rounds: number,
  effort: Effort,
): Promise<void> {
  const session = await signIn(server, users[0]?.email ?? '');
  const callers = [
    { name: 'nobody', effort },
    { name: 'access token', effort: { ...effort, header: `Authorization: Bearer ${session}` } },
    { name: 'static token', effort: { ...effort, header: `Authorization: Bearer ${staticToken}` } },
  ];
  const figures = new Map(callers.map(({ name }) => [name, { perSecond: [] as number[], micros: [] as number[] }]));
  for (const caller of callers) await driveOwn(server.url, docs, { ...caller.effort, seconds: 2 });
  for (let round = 0; round < rounds; round++) {
    say(`tokens, round ${round + 1} of ${rounds}`);
    for (const caller of round % 2 === 0 ? callers : callers.toReversed()) {
      const before = readConsumption(server.pid)?.cpuMicros ?? Number.NaN;
      const load = await driveOwn(server.url, docs, caller.effort);
      const used = (readConsumption(server.pid)?.cpuMicros ?? Number.NaN) - before;
      if (load.errors > 0) throw new Error(`${load.errors} requests of ${caller.name} failed.`);
      figures.get(caller.name)?.perSecond.push(load.requests / load.seconds);
      figures.get(caller.name)?.micros.push(used / load.requests);
    }
  }
  const base = figures.get('nobody') ?? { perSecond: [], micros: [] };
  print(`one item by its key, ${effort.connections} connections, medians of ${rounds} rounds`);
  for (const [name, { perSecond, micros }] of figures) {
    const added = median(micros.map((one, round) => one - (base.micros[round] ?? Number.NaN)));
    const share = median(perSecond.map((one, round) => one / (base.perSecond[round] ?? Number.NaN)));
    const verdict =
      name === 'nobody'
        ? ''
        : `  +${added.toFixed(1)} µs (target ${mostTokenMicros}: ${added <= mostTokenMicros ? 'reached' : 'missed'})`;
    print(
      `  ${name.padEnd(14)} ${median(perSecond).toFixed(0).padStart(6)}/s ${share.toFixed(2)}x ${median(micros).toFixed(1).padStart(6)} µs${verdict}`,
    );
  }
}

/** Sign-ins of many users at once, against hashing alone in the same way on the same machine. */
async function benchSignIn({ server, users }: AccountsStage, seconds: number): Promise<void> {
  say('signing in');
  const passwords = createPasswords();
  const encoded = await passwords.hash(password);
  const alone = await perSecond(seconds, users, () => passwords.verify(encoded, password));
  const signed = await perSecond(seconds, users, ({ email }) => signIn(server, email));
  print(`\nsigning in, ${signingIn} users at once`);
  print(`  comparing hashes alone ${alone.toFixed(1).padStart(6)}/s`);
  print(`  sign-ins               ${signed.toFixed(1).padStart(6)}/s ${(signed / alone).toFixed(2)}x`);
}

async function perSecond<T>(seconds: number, who: readonly T[], work: (one: T) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1000;
  const counts = await Promise.all(
    who.map(async (one) => {
      let count = 0;
      for (; performance.now() < end; count++) await work(one);
      return count;
    }),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - start);
}

/** Refusals of accounts that exist and of others, in turns, without LOGIN_STALL_TIME, which hides the rest. */
async function benchTiming({ server, users }: AccountsStage): Promise<void> {
  const [known] = users;
  if (known === undefined) return;
  const unknown = { id: randomUUID(), email: 'nobody@example.com' };
  const tokens = createTokens(secret);
  const reset = (user: string) =>
    signMailed(tokens, 'password_reset', { user, key: 'k'.repeat(43), proof: 'f'.repeat(64) }, 60_000);
  const endpoints: readonly [string, (who: { readonly id: string; readonly email: string }) => unknown][] = [
    ['/auth/login', ({ email }) => ({ email, password: 'a wrong password' })],
    ['/auth/password/request', ({ email }) => ({ email })],
    ['/auth/password/reset', ({ id }) => ({ token: reset(id), password: 'an entirely new one' })],
  ];
  print(`\naccounts that exist and others, ${samples} samples each, in turns`);
  for (const [path, body] of endpoints) {
    say(path);
    const times = { known: [] as number[], unknown: [] as number[] };
    const answers = new Set<string>();
    for (let sample = 0; sample < samples * 2; sample++) {
      // In pairs whose order changes: the second of two requests has another time than the first.
      const kind = (sample + (sample >> 1)) % 2 === 0 ? 'known' : 'unknown';
      const asked = body(kind === 'known' ? known : unknown);
      const start = performance.now();
      const { status, text } = await server.ask(path, { method: 'POST', body: asked });
      times[kind].push(performance.now() - start);
      answers.add(`${status} ${text}`);
    }
    const [there, gone] = [median(times.known), median(times.unknown)];
    const medians = `${there.toFixed(2)} and ${gone.toFixed(2)} ms, apart by ${(there - gone).toFixed(2)} ms`;
    const likely = `p = ${sameness(times.known, times.unknown).toFixed(3)}`;
    print(
      `  ${path.padEnd(24)} ${medians}, ${likely}, ${answers.size === 1 ? 'the same bytes' : `${answers.size} different answers`}`,
    );
  }
}

async function signIn(server: Platform, email: string): Promise<string> {
  const { status, json, text } = await server.ask('/auth/login', { method: 'POST', body: { email, password } });
  if (status !== 200) throw new Error(`Signing in failed: ${text}`);
  return json.data.access_token;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
