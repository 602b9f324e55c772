import type { Database } from '../database/database.ts';
import { askProbe } from '../database/host-state.ts';
import { choosePrimary } from '../database/hosts/choose-primary.ts';
import type { TurnLimits } from '../database/public/public-queue.ts';
import { queuePublicReads } from '../database/public/public-reads.ts';
import { shareStreams } from '../database/stream-share.ts';
import { fixedUrl, hostUrls } from '../environment/renewable-url.ts';
import { familyOf } from '../language/index.ts';
import { connectEmbedded, serverOfFamily } from './index.ts';
import type { ConnectOptions, EmbeddedDatabase } from './server-dialect.ts';

/** Place of the database: the URL of a server, or the data directory or running instance of an embedded one. */
export type DatabasePlace = { readonly url: string } | { readonly embedded: string | EmbeddedDatabase };

/** Options for reaching a database, and for streaming answers from it. */
export interface OpenOptions extends Omit<ConnectOptions, 'url'> {
  /** Streams at once. Default: a third of the connections. */
  readonly streamMax?: number;
  /** Streams of one client address at once. Default: one less than there may be. */
  readonly streamClientMax?: number;
}

/**
 * Opens the database of a place; the options are for servers.
 *
 * Rejects with SERVICE_UNAVAILABLE when it cannot be reached; the error's `cause` says why in one sentence.
 * @example
 * const database = await openDatabase({ url: process.env['DATABASE_URL'] ?? '' });
 * const rows = await database.query('SELECT title FROM articles WHERE id = $1', ['1']);
 * await database.close(1_000);
 */
export async function openDatabase(target: DatabasePlace, options: OpenOptions = {}): Promise<Database> {
  const { poolMax = 10, poolTimeoutMs = 2_000 } = options;
  const limit = options.streamMax ?? Math.max(1, Math.floor(poolMax / 3));
  const maxOfClient = Math.min(options.streamClientMax ?? Math.max(1, limit - 1), limit);
  const database = queuePublicReads(await connect(target, options), publicLimits(target, poolMax, poolTimeoutMs));
  return shareStreams(database, { maxCount: limit, maxOfClient, timeoutMs: poolTimeoutMs });
}

/** Limits by which callers without a token share a database with others. An embedded one does one thing at a time. */
function publicLimits(target: DatabasePlace, poolMax: number, timeoutMs: number): TurnLimits {
  if (!('url' in target)) {
    const beside = { yieldMs: 200, pauseFactor: 3, freeMs: 0, slowShare: 0.02 };
    return { places: 1, maxCount: 1, slowMs: 100, pauseFactor: 3, beside, timeoutMs, quickOfClient: 0 };
  }
  const places = Math.max(2, Math.floor(poolMax / 3));
  const { publicReads } = serverOfFamily(familyOf(target.url));
  return { ...publicReads(places, poolMax), slowMs: 150, pauseFactor: 0, timeoutMs };
}

async function connect(target: DatabasePlace, options: OpenOptions): Promise<Database> {
  if (!('url' in target)) return connectEmbedded(target.embedded);
  const url = options.renewable === undefined ? await chooseHost(target.url) : target.url;
  return serverOfFamily(familyOf(url)).connect({ ...options, url });
}

/**
 * The address of the host that takes writes, of an address with several; the first host where none does. For commands, which
 * end before it changes.
 * @example
 * const url = await chooseHost('scheme://user@a,b/database'); // scheme://user@b/database
 */
export async function chooseHost(list: string): Promise<string> {
  const urls = hostUrls(list);
  const [first = list] = urls;
  if (urls.length === 1) return first;
  const { createProbe } = serverOfFamily(familyOf(list));
  const probes = await Promise.all(urls.map((url) => createProbe(fixedUrl(url))));
  const facts = await Promise.all(probes.map(askProbe));
  for (const { reset } of probes) reset();
  const { index } = choosePrimary(facts, null, true);
  return urls[index ?? 0] ?? first;
}
