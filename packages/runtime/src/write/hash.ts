/** Values of fields of the type `hash`: stored as Argon2id, in the text form that every library reads. */
import { createPasswords } from '../auth/passwords.ts';
import type { Batch } from './batch.ts';

const passwords = createPasswords();

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
  for (const value of values) hashes.push(value === null ? null : await passwords.hash(value));
  return hashes;
}
