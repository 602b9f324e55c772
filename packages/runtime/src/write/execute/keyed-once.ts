/** Requests outside of collections that may be sent again under a key. Source: API specification, section 17. */
import type { Database, Transaction } from '../../database/database.ts';
import type { JsonValue } from '../../language/index.ts';
import { type AnswerKeeper, type IdempotentRequest, type KeptAnswer, keyRequest } from './idempotency.ts';
import type { TransactionBody } from './transaction-body.ts';
import { createWriteExecutor, type WriteExecutorOptions } from './write-executor.ts';

/** A request, with its key where it has one; `collection` is its path. */
type KeyedRequestParts = Omit<IdempotentRequest, 'key'> & { readonly key?: string };

/** Runs `prepare`, then its work in a transaction, and answers 204; under a key only where no answer is kept. */
export type KeyedOnce = (
  requested: KeyedRequestParts,
  body: JsonValue | undefined,
  prepare: () => Promise<TransactionBody<void>>,
) => Promise<KeptAnswer>;

/** Makes it; `keeper` is null where no answers are kept. `committed` is told of every transaction that was committed. */
export function createKeyedOnce(
  database: Pick<Database, 'transaction' | 'briefTransaction'>,
  keeper: AnswerKeeper | null,
  committed?: WriteExecutorOptions['committed'],
): KeyedOnce {
  const executor = createWriteExecutor({
    database,
    driftGuard: () => {},
    history: null,
    systemHooks: new Map(),
    keeper,
    ...(committed && { committed }),
  });
  return async function keyedOnce({ key, ...requested }, body, prepare) {
    const workOf = async () => {
      const work = await prepare();
      return {
        ...work,
        async run(transaction: Transaction) {
          await work.run(transaction);
          return { returning: null, keys: null };
        },
      };
    };
    if (key !== undefined) return executor.keyed(keyRequest({ ...requested, key }, body), workOf);
    await executor.once(await workOf());
    return { status: 204, body: null };
  };
}
