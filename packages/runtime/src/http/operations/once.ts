/** Operations that an Idempotency-Key makes happen once. Source: API specification, section 17. */
import { readErrorBody } from '../../errors.ts';
import type { Once } from '../../files/uploads.ts';
import type { JsonValue } from '../../language/index.ts';
import type { KeptAnswer } from '../../write/execute/idempotency.ts';
import type { TransactionBody } from '../../write/execute/transaction-body.ts';
import type { Writer } from '../../write/writer.ts';
import type { OperationContext } from './bind.ts';

/** The request of an operation by its key; `input` is what the key stands for, unless the request says more. */
export function onceOf({ caller, sender, query, key }: OperationContext, input: JsonValue): Once {
  if (key === undefined) return { request: { caller, sender, collection: '', query }, payload: input };
  return { request: { caller, sender, collection: key.path, query, key: key.text }, payload: key.payload ?? input };
}

/** Runs the work of an operation, once under the key of its request, and gives the bytes of its answer. */
export async function runOnce(
  writer: Pick<Writer, 'once'>,
  { request, payload }: Once,
  prepare: () => Promise<TransactionBody>,
): Promise<Buffer | null> {
  return answerOf(await writer.once(request, payload, prepare));
}

/** The same for work that is costly to prepare, and keeps its answer itself unless that is an error. */
export async function runUnlessKept(
  writer: Pick<Writer, 'once' | 'kept'>,
  { request, payload }: Once,
  work: () => Promise<KeptAnswer>,
): Promise<Buffer | null> {
  const kept = await writer.kept(request, payload);
  const keepError = (error: unknown) => writer.once(request, payload, () => Promise.reject(error));
  return answerOf(kept ?? (await work().catch(keepError)));
}

/** The bytes of an answer. Throws the error that it is. */
export function answerOf({ status, body }: KeptAnswer): Buffer | null {
  if (status >= 400 && body !== null) throw readErrorBody(body);
  return body;
}
