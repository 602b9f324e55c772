/** Values of fields of the type `hash`: stored as Argon2id, in the text form that every library reads. */
import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Batch } from './batch.ts';

const derive = promisify(argon2);

/** Memory in KiB, passes and lanes: what OWASP asks for at least. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;

/** Hashes a text. */
export async function hashText(text: string): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await derive('argon2id', { message: Buffer.from(text), nonce, tagLength: hashBytes, ...cost });
  const settings = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=19$${settings}$${unpadded(nonce)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** The batch with the values of such fields hashed; the same batch when there are none. */
export async function hashBatch(batch: Batch): Promise<Batch> {
  if (!batch.columns.some(({ field }) => field.descriptor.type === 'hash')) return batch;
  const columns: Batch['columns'][number][] = [];
  for (const column of batch.columns) {
    columns.push(
      column.field.descriptor.type === 'hash' ? { ...column, values: await hashAll(column.values) } : column,
    );
  }
  return { ...batch, columns };
}

/** One after the other: each keeps a core busy. */
async function hashAll(values: readonly (string | null)[]): Promise<readonly (string | null)[]> {
  const hashes: (string | null)[] = [];
  for (const value of values) hashes.push(value === null ? null : await hashText(value));
  return hashes;
}
