/** Operations beside reading and writing. Source: API specification, section 13. */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../caller.ts';
import { PlatformError } from '../../errors.ts';
import type { CompiledApi } from '../../language/index.ts';
import type { utilResource } from '../../language/operations/index.ts';
import { WorkQueue } from '../../limits/work-queue.ts';
import { createPasswords, readHashCost } from '../../passwords/passwords.ts';
import type { Planner } from '../../query/planner.ts';
import { systemSchemaOf } from '../../system/place.ts';
import { createMover } from '../../utilities/move-item.ts';
import { createReverter } from '../../utilities/revert.ts';
import { type TransactionBody, withoutAnswer } from '../../write/execute/transaction-body.ts';
import type { Writer } from '../../write/writer.ts';
import { done, type Implementations } from './bind.ts';
import { onceOf, runOnce } from './once.ts';

/** Parts of a server that the utilities use. */
export interface UtilOptions {
  readonly api: CompiledApi;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf' | 'once'>;
  /** MAX_BATCH_MUTATION: items that one request writes at most; null: as many as it moves. */
  readonly maxItems: number | null;
  /** Empties the caches of accounts and settings, and shared ones of answers. */
  readonly forget: () => void;
}

export function utilOperations(options: UtilOptions): Implementations<typeof utilResource> {
  const passwords = createPasswords();
  const moveItem = createMover(options);
  const revert = createReverter({ ...options, schema: systemSchemaOf(options.api) });
  return {
    utilsRandomString: async ({ length }) => ({ value: randomText(length) }),
    utilsHashGenerate: async ({ string }, { caller }) => ({
      value: await hashInTurn(caller, (client) => passwords.hash(string, client)),
    }),
    utilsHashVerify: async ({ string, hash }, { caller }) => ({
      value: isComparable(hash) && (await hashInTurn(caller, (client) => passwords.verify(hash, string, client))),
    }),
    async utilsSort({ collection, item, to }, context) {
      const { caller, sender } = context;
      const move = { item: String(item), to: String(to) };
      await runOnce(options.writer, onceOf(context, move), async () => moveItem({ caller, collection, sender }, move));
      return done;
    },
    async utilsRevert({ revision }, context) {
      await runOnce(options.writer, onceOf(context, null), async () => revert(context, revision));
      return done;
    },
    async utilsCacheClear(_, context) {
      const clearing: TransactionBody<void> = { async run() {}, affected: () => [], committed: options.forget };
      // Without a key nothing is kept, and no database is needed.
      if (context.key === undefined) options.forget();
      else await runOnce(options.writer, onceOf(context, null), async () => withoutAnswer(clearing));
      return done;
    },
  };
}

/** Letters, digits, `-` and `_`, each as likely as any other: 6 bits of randomness a character. */
function randomText(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString('base64url')
    .slice(0, length);
}

/** One hash of the utilities at once in the turns of the process, so that a sign-in waits for one at most. Users take turns. */
const hashQueue = new WorkQueue({ atOnce: 1, waiting: 64, waitingOfClient: 16 });

function hashInTurn<T>({ user }: Caller, work: (client: string) => Promise<T>): Promise<T> {
  const client = user ?? '';
  return hashQueue.acquire(() => work(client), client);
}

/** Most memory in KiB, passes and lanes of a hash that a request makes this server compute. */
const limit = { memory: 65_536, passes: 10, lanes: 4 } as const;

/** True for a hash of the usual form. Throws INVALID_PAYLOAD for one of too high a cost. */
function isComparable(hash: string): boolean {
  const cost = readHashCost(hash);
  if (cost === null) return false;
  if (cost.memory > limit.memory || cost.passes > limit.passes || cost.lanes > limit.lanes) {
    throw new PlatformError('INVALID_PAYLOAD', '"hash" costs more than this server computes.');
  }
  return true;
}
