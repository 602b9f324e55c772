/** Hashing and verifying passwords, a few at once. Source: API specification, section 3.2. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { WorkQueue } from '../limits/work-queue.ts';
import { longestPassword } from './password-policy.ts';

/**
 * Hashes and verifies; `client` says for whom, as clients take turns. Both reject with SERVICE_UNAVAILABLE when too many
 * wait for a processor.
 */
export interface Passwords {
  /** Hashes the exact bytes of a password. */
  hash(password: string, client?: string): Promise<string>;
  /** True if a password is the one that was hashed. Null and texts that are too long take as long, and are false. */
  verify(encoded: string | null, password: string, client?: string): Promise<boolean>;
  /** True if a hash was made with weaker parameters than a new one, so that a sign-in should replace it. */
  isOutdated(encoded: string): boolean;
}

/** Bounds of the work. */
export interface PasswordsOptions {
  /** Turns of the process when absent: its threads are shared by all. */
  readonly queue?: WorkQueue;
}

/** One thread less than there are processors, so that requests go on; never all four that files need, too. */
const ofProcess = new WorkQueue({ atOnce: Math.min(3, Math.max(1, availableParallelism() - 1)), waiting: 64 });

/** Makes them. */
export function createPasswords({ queue = ofProcess }: PasswordsOptions = {}): Passwords {
  const decoyHash = encodedDecoy();
  return {
    hash: (password, client) => queue.acquire(() => encodeArgon2(Buffer.from(password)), client),
    async verify(encoded, password, client) {
      const bytes = Buffer.from(password);
      const possible = encoded !== null && bytes.length <= longestPassword;
      const matches = await queue.acquire(
        () => matchesArgon2(possible ? encoded : decoyHash, bytes.subarray(0, longestPassword)),
        client,
      );
      return possible && matches;
    },
    isOutdated: isOutdatedArgon2,
  };
}

/** Memory in KiB, passes and lanes: the minimum that OWASP asks for. Hashes that cost less are outdated. */
const cost = { memory: 19_456, passes: 2, lanes: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;

/** Hashes bytes. The parameters stand in the order of the reference, in which some readers alone take them. */
async function encodeArgon2(bytes: Buffer): Promise<string> {
  const { hash, argon2id } = await import('argon2');
  const salt = randomBytes(saltBytes);
  const raw = await hash(bytes, {
    type: argon2id,
    memoryCost: cost.memory,
    timeCost: cost.passes,
    parallelism: cost.lanes,
    hashLength: hashBytes,
    salt,
    raw: true,
  });
  return print(salt, raw);
}

/** True if the bytes are those that were hashed; false also if `encoded` is not an Argon2 hash. */
async function matchesArgon2(encoded: string, bytes: Buffer): Promise<boolean> {
  const { verify } = await import('argon2');
  return verify(encoded, bytes).catch(() => false);
}

/** True if a hash costs less than one made now, or is not an Argon2id hash. */
function isOutdatedArgon2(encoded: string): boolean {
  const found = encoded.startsWith('$argon2id$v=19$') ? readHashCost(encoded) : null;
  return found === null || found.memory < cost.memory || found.passes < cost.passes || found.lanes < cost.lanes;
}

const usualForm =
  /^\$argon2(?:id|i|d)\$v=(?:16|19)\$([mtp]=\d{1,9}),([mtp]=\d{1,9}),([mtp]=\d{1,9})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

/** Reads the cost of a hash; null unless it has the usual form, since two readers could take another differently. */
export function readHashCost(encoded: string): Readonly<Record<keyof typeof cost, number>> | null {
  const settings = usualForm.exec(encoded)?.slice(1) ?? [];
  const numbers = new Map(settings.map((setting) => [setting.charAt(0), Number(setting.slice(2))]));
  const [m, t, p] = [numbers.get('m'), numbers.get('t'), numbers.get('p')];
  return m === undefined || t === undefined || p === undefined ? null : { memory: m, passes: t, lanes: p };
}

/** A hash of an unknown text, which costs as much to compare with as a real one. */
function encodedDecoy(): string {
  return print(randomBytes(saltBytes), randomBytes(hashBytes));
}

function print(salt: Buffer, hash: Buffer): string {
  const settings = `m=${cost.memory},t=${cost.passes},p=${cost.lanes}`;
  return `$argon2id$v=19$${settings}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
