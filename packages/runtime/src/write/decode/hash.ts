/** Values of fields of the type `hash`: stored as Argon2id, in the text form that every library reads. */
import { refusePassword } from '../../passwords/password-policy.ts';
import { createPasswords } from '../../passwords/passwords.ts';
import type { Granted } from '../access/scope.ts';
import type { WriteContext } from '../write-plan.ts';
import type { Batch, BatchColumn } from './batch.ts';

const { hash } = createPasswords();

/** The batch with the values of such fields hashed; the same batch when there are none. */
export function hashBatch(
  context: WriteContext,
  granted: Pick<Granted, 'writable'>,
  batch: Batch,
): Batch | Promise<Batch> {
  return batch.columns.some(isHashed) ? hashColumns(context, granted, batch) : batch;
}

async function hashColumns(
  context: WriteContext,
  { writable }: Pick<Granted, 'writable'>,
  batch: Batch,
): Promise<Batch> {
  const { name, system } = writable.collection.descriptor;
  if (system === true && name === 'platform_users') await checkPasswords(context, batch);
  const columns: BatchColumn[] = [];
  for (const column of batch.columns) columns.push(isHashed(column) ? await hashColumn(column) : column);
  return { ...batch, columns };
}

function isHashed({ field }: BatchColumn): boolean {
  return field.descriptor.type === 'hash';
}

/** One after the other: each keeps a core busy. */
async function hashColumn(column: BatchColumn): Promise<BatchColumn> {
  const values: (string | null)[] = [];
  for (const value of column.values) values.push(value === null ? null : await hash(value));
  return { ...column, values };
}

/** Checks new passwords against the minimum length, and the pattern of the settings. */
async function checkPasswords({ passwordPattern, scope }: WriteContext, { columns }: Batch): Promise<void> {
  const pattern = await passwordPattern();
  const policy = { minLength: scope.fieldLimits.passwordMinLength, pattern };
  for (const password of columns.filter(isHashed).flatMap(({ values }) => values)) {
    const refused = password === null ? undefined : refusePassword(password, policy);
    if (refused !== undefined) throw refused;
  }
}
