/**
 * Two servers under one test: every read that a test asks is answered by one with all optimisations, on the fast lane to
 * the database, and by one without any, on the plain lane. Both are of the same generated code, over the same database,
 * and the answers have to be the same bytes.
 * What a GraphQL document can say, too, is then asked that way, of a sample of the reads, and the items have to be the same.
 * What writes is asked once, on the fast lane unless a test file says otherwise; of a sample of the writes it is done by
 * GraphQL before, and taken back, and both have to leave the same rows.
 */
import { expect } from 'vitest';
import { createGraphqlTwin, type TwinCount, unlimitedDocuments } from './graphql-twin.ts';
import { createWriteTwin } from './graphql-write-twin.ts';
import { generateHosted, startCompiled, startHosted } from './host.ts';
import { asDescribed } from './openapi/described.ts';
import { type Answer, type Ask, adminToken, type Platform, startUnchecked } from './platform.ts';
import { createTurns } from './turns.ts';

/** Where the two servers find what they serve. */
export interface BothLanes {
  readonly folder: string;
  /** For the fast lane, which the test looks at: perhaps through a proxy that counts. */
  readonly databaseUrl: string;
  /** For the plain lane. */
  readonly directUrl: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Gives each server a process of its own, as the command starts them: for tests that look at the process. */
  readonly alone?: boolean;
  /** Says that the folder holds what is generated of it. */
  readonly isCompiled?: boolean;
  /** Hooks act after the commit, too, so what a write leaves cannot be taken back. */
  readonly hooked?: boolean;
}

/** Beside other work a connection may take longer than requests usually wait for one. */
const patient = { DATABASE_POOL_TIMEOUT: '50s' };

let writing: 'fast' | 'pg' = 'fast';

/** Names the lane on which servers that are started from here on are asked to write. */
export function writeOn(driver: 'fast' | 'pg'): void {
  writing = driver;
}

/** Compiles and serves a project where there is one lane alone. */
export async function startOneLane({
  folder,
  databaseUrl,
  environment = {},
  alone = false,
}: Omit<BothLanes, 'directUrl' | 'isCompiled' | 'hooked'>): Promise<Platform> {
  const server = await (alone ? startCompiled : startHosted)(folder, databaseUrl, { ...patient, ...environment });
  return asDescribed(server, { folder, adminToken: environment.ADMIN_TOKEN ?? adminToken });
}

/** Compiles and serves a project on both lanes. What is returned is the server on the fast one. */
export async function startBothLanes({
  folder,
  databaseUrl,
  directUrl,
  environment = {},
  alone = false,
  isCompiled = false,
  hooked = false,
}: BothLanes): Promise<Platform> {
  const fastly = { ...patient, DATABASE_DRIVER: 'fast', ...environment };
  const describedBy = { folder, adminToken: environment.ADMIN_TOKEN ?? adminToken };
  if (alone && !isCompiled) await generateHosted(folder, databaseUrl);
  const start = (url: string, variables: Readonly<Record<string, string>>, generate: boolean): Promise<Platform> =>
    alone ? startUnchecked(folder, url, variables, []) : startHosted(folder, url, variables, generate);
  const fast = asDescribed(await start(databaseUrl, fastly, !isCompiled), describedBy);
  const plainly = { ...patient, ...unlimitedDocuments, ...environment, PLATFORM_OPTIMIZE: 'none' };
  const starting = start(directUrl, plainly, false);
  // Whoever asks first is told, too.
  starting.catch(() => {});
  // What the plain lane reads is compared with what the other one reads, so only its writes need a look at the document.
  const writable = starting.then((plain) => asDescribed(plain, describedBy));
  writable.catch(() => {});
  const lane = writing;
  // The plain lane is the one at which nobody counts.
  const twin = createGraphqlTwin(folder, () => starting);
  // A document is longer than the address, and says otherwise what goes beyond a limit.
  const writes = createWriteTwin({ folder, databaseUrl: directUrl, server: () => starting });
  const turns = createTurns();
  let stopping = false;
  const comparable = environment.MAX_PAYLOAD_SIZE === undefined && environment.QUERY_LIMIT_MAX === undefined;
  const write = async (path: string, options: Ask): Promise<Answer> => {
    return lane === 'pg' && isItems(path) ? (await writable).ask(path, options) : fast.ask(path, options);
  };
  const ask = (path: string, options: Ask = {}): Promise<Answer> => {
    if (isRead(path, options)) return turns.together(() => read(path, options));
    const twice = !hooked && !stopping && isItems(path) && isSampled(JSON.stringify([path, options.body]));
    if (!twice) return turns.together(() => write(path, options));
    return turns.first(
      () => writes.attempt(path, options),
      () => write(path, options),
      (compare, answer) => compare(answer),
      () => writes.skip('at the same time'),
    );
  };
  const read = async (path: string, options: Ask): Promise<Answer> => {
    const plain = await starting;
    const [answer, other] = await Promise.all([fast.ask(path, options), plain.ask(path, options)]);
    expect(described(other), `${options.method ?? 'GET'} ${path} on the plain lane`).toEqual(described(answer));
    if (comparable && !stopping && isSampled(path)) await twin.check(path, options, answer);
    return answer;
  };
  return {
    ...fast,
    ask,
    admin: (path, options) => ask(path, { ...options, token: adminToken }),
    async stop(signal) {
      stopping = true;
      if (process.env.GRAPHQL_TWINS !== undefined) console.info(twin.count(), writes.count());
      await writes.close();
      const plain = await starting.catch(() => undefined);
      const [code] = await Promise.all([fast.stop(signal), plain?.stop()]);
      for (const count of [twin.count(), writes.count()]) expectCompared(count);
      return code;
    },
  };
}

/** Of requests that documents could say a good part has to be compared: nothing may come to be left out unnoticed. */
function expectCompared({ asked, without }: TwinCount): void {
  const others = [...without].filter(([reason]) => !unsayable.has(reason));
  const unsaid = others.reduce((sum, [, count]) => sum + count, 0);
  const told = others.map(([reason, count]) => `${reason}: ${count}`).join(', ');
  if (asked + unsaid < fewest) return;
  expect(asked, `requests compared with documents, without ${told}`).toBeGreaterThanOrEqual((asked + unsaid) / 10);
}

/** What no document can say, or no test compare, whatever is asked. */
const unsayable: ReadonlySet<string> = new Set([
  'another caller',
  'at the same time',
  'cursor',
  'export',
  'having',
  'idempotency-key',
  'if-match',
  'keys',
  'large body',
  'on_conflict',
  'query',
  'upsert',
]);

/** Requests of a project below which it may be that no document says any of them. */
const fewest = 20;

/**
 * A quarter of the requests of contract tests, always the same ones: documents cost more than addresses, and attacks are
 * made of requests that no document says. GRAPHQL_TWINS asks for all of them.
 */
function isSampled(text: string): boolean {
  if (process.env.GRAPHQL_TWINS !== undefined) return true;
  if (expect.getState().testPath?.includes('/test/contract/') !== true) return false;
  return Buffer.from(text).reduce((sum, byte) => sum + byte, 0) % 4 === 0;
}

/** Only items come from the database; states of a server differ from one to the next. */
function isRead(path: string, { method = 'GET' }: Ask): boolean {
  return isItems(path) && ['GET', 'HEAD', 'SEARCH'].includes(method);
}

function isItems(path: string): boolean {
  return path.startsWith('/items/');
}

/** What has to be the same. Bytes as characters, so that a difference can be read. */
function described({ status, headers, bytes }: Answer): readonly unknown[] {
  return [status, headers.get('content-type'), headers.get('etag'), bytes.toString('latin1')];
}
