/**
 * Fetches a file from an address that a caller names. The name is resolved once, the resulting address is checked, and
 * that address is connected to; redirects are not followed. Source: API specification, section 11.2.
 */
import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ImportEnvironment } from '../environment/files.ts';
import { type Address, createNetworks, readAddress } from '../environment/networks.ts';
import { PlatformError } from '../errors.ts';
import { WorkQueue } from '../limits/work-queue.ts';
import { type Staged, stage, tooLarge } from './staging.ts';

/** Makes what fetches a file for a client into a folder. It rejects with INVALID_PAYLOAD if forbidden or too large, else SERVICE_UNAVAILABLE. */
export function createFetchFile(
  environment: ImportEnvironment,
): (url: string, folder: string, client: string) => Promise<{ readonly staged: Staged; readonly name: string }> {
  const isForbidden = createForbiddenAddresses(environment);
  return async function fetchFile(text, folder, client) {
    const url = readUrl(text, environment.ports);
    const stop = AbortSignal.timeout(environment.timeout);
    const address = await resolve(url.hostname, isForbidden, stop, client);
    let response: IncomingMessage | undefined;
    try {
      response = await ask(url, address, stop);
      if (response.statusCode !== 200) throw unreachable(new Error(`The answer has status ${response.statusCode}.`));
      if (Number(response.headers['content-length'] ?? 0) > environment.maxSize) throw tooLarge(environment.maxSize);
      const staged = await stage(folder, response, environment.maxSize);
      return { staged, name: nameIn(url) };
    } catch (error) {
      throw error instanceof PlatformError ? error : unreachable(error);
    } finally {
      response?.destroy();
    }
  };
}

function readUrl(text: string, ports: readonly number[]): URL {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '') throw refused();
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (!ports.includes(port)) throw refused();
  return url;
}

/** The address to connect to. One forbidden address among several refuses, as the owner may choose their order. */
async function resolve(
  host: string,
  isForbidden: (address: string) => boolean,
  stop: AbortSignal,
  client: string,
): Promise<string> {
  // A dot at the end only says that the name is whole.
  const bare = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const found = isIP(bare) === 0 ? await lookUp(bare, stop, client) : [bare];
  const [first] = found;
  if (first === undefined) throw unreachable(new Error('The name has no address.'));
  if (found.some(isForbidden)) throw refused();
  return first;
}

/** A name server of a caller may not answer for long, and two names at once are all that a process resolves. */
const lookups = new WorkQueue({ atOnce: 1, waiting: 64 });

async function lookUp(name: string, stop: AbortSignal, client: string): Promise<readonly string[]> {
  try {
    const late = new Promise<never>((_, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
    const looking = lookups.acquire(() => lookup(name, { all: true, order: 'verbatim' }), client);
    const found = await Promise.race([looking, late]);
    return found.map(({ address }) => address);
  } catch (error) {
    throw unreachable(error);
  }
}

async function ask(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const family = isIP(address);
  // A declaration that imports `node:http` has Node load all of `fetch` and more, which every start would pay for.
  const { request: open } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const request: ClientRequest = open(url, {
      // A connection of its own, not one that was opened for another address.
      agent: false,
      signal,
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      lookup: (_name, { all }, done) => {
        if (all === true) done(null, [{ address, family }]);
        else done(null, address, family);
      },
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.on('close', () => reject(new Error('The connection was closed.')));
    request.end();
  });
}

function nameIn({ pathname, hostname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last || hostname;
  }
}

function refused(): PlatformError {
  const where = 'on a port of IMPORT_PORTS, and outside of networks that only IMPORT_IP_ALLOW_LIST opens';
  return new PlatformError('INVALID_PAYLOAD', `"url" must be an address of http or https without user, ${where}.`);
}

function unreachable(cause: unknown): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}

const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // All but the public range 2000::/3, and the parts of that with a special purpose.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

/** Makes the function that tells if an address, as resolvers return it, must not be connected to. */
function createForbiddenAddresses({
  denied,
  allowed,
}: Pick<ImportEnvironment, 'denied' | 'allowed'>): (text: string) => boolean {
  const always = createNetworks(special);
  const [deniedHere, allowedHere] = [createNetworks(denied), createNetworks(allowed)];
  return function isForbidden(text) {
    const address = readAddress(text);
    if (address === null) return true;
    if (allowedHere.has(address)) return false;
    return always.has(address) || deniedHere.has(address) || isOwn(address);
  };
}

/** True if it is an address of this machine; these may change while a server runs. */
function isOwn({ text }: Address): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return interfaces.some(({ address }) => readAddress(address)?.text === text);
}
