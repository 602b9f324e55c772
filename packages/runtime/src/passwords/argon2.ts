/** Argon2id in the text form that every library reads, by the package `argon2`: on threads, never on the event loop. */
import { randomBytes } from 'node:crypto';

/** Memory in KiB, passes and lanes: the minimum that OWASP asks for. Hashes that cost less are outdated. */
const cost = { memory: 19_456, passes: 2, lanes: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;

/** Hashes bytes. The parameters stand in the order of the reference, in which some readers alone take them. */
export async function encodeArgon2(bytes: Buffer): Promise<string> {
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
export async function matchesArgon2(encoded: string, bytes: Buffer): Promise<boolean> {
  const { verify } = await import('argon2');
  return verify(encoded, bytes).catch(() => false);
}

/** True if a hash costs less than one made now, or is not an Argon2id hash. */
export function isOutdatedArgon2(encoded: string): boolean {
  if (!encoded.startsWith('$argon2id$v=19$')) return true;
  const settings = new URLSearchParams(encoded.split('$')[3]?.replaceAll(',', '&'));
  const number = (name: string): number => Number(settings.get(name) ?? 0);
  return number('m') < cost.memory || number('t') < cost.passes || number('p') < cost.lanes;
}

/** A hash of an unknown text, which costs as much to compare with as a real one. */
export function encodedDecoy(): string {
  return print(randomBytes(saltBytes), randomBytes(hashBytes));
}

function print(salt: Buffer, hash: Buffer): string {
  const settings = `m=${cost.memory},t=${cost.passes},p=${cost.lanes}`;
  return `$argon2id$v=19$${settings}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
