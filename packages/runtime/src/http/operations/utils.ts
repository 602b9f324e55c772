/** Operations beside reading and writing. Source: API specification, section 13. */
import { randomBytes } from 'node:crypto';
import { PlatformError } from '../../errors.ts';
import type { CompiledApi } from '../../language/index.ts';
import type { utilResource } from '../../language/operations/index.ts';
import { createPasswords } from '../../passwords/passwords.ts';
import type { Planner } from '../../query/planner.ts';
import { systemSchemaOf } from '../../system/place.ts';
import { createMover } from '../../utilities/move-item.ts';
import { createReverter } from '../../utilities/revert.ts';
import type { Writer } from '../../write/writer.ts';
import { done, type Implementations } from './bind.ts';
import { onceOf, runOnce } from './once.ts';

/** Parts of a server that the utilities use. */
export interface UtilOptions {
  readonly api: CompiledApi;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf' | 'once'>;
  /** Empties the caches of accounts and settings, and shared ones of answers. */
  readonly forget: () => void;
}

export function utilOperations(options: UtilOptions): Implementations<typeof utilResource> {
  const passwords = createPasswords();
  const moveItem = createMover(options);
  const revert = createReverter({ ...options, schema: systemSchemaOf(options.api) });
  return {
    utilsRandomString: async ({ length }) => ({ value: randomText(length) }),
    utilsHashGenerate: async ({ string }) => ({ value: await passwords.hash(string) }),
    utilsHashVerify: async ({ string, hash }) => ({ value: await passwords.verify(payableHash(hash), string) }),
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
    async utilsCacheClear() {
      options.forget();
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

/** Most memory in KiB, passes and lanes of a hash that a request makes this server compute. */
const limit = { m: 65_536, t: 10, p: 4 } as const;

/** Accepts a hash of bounded cost. Throws INVALID_PAYLOAD for a costlier one; an invalid hash matches nothing. */
function payableHash(hash: string): string {
  const settings = new URLSearchParams(hash.split('$')[3]?.replaceAll(',', '&'));
  const isDear = (['m', 't', 'p'] as const).some((name) => Number(settings.get(name) ?? 0) > limit[name]);
  if (isDear) throw new PlatformError('INVALID_PAYLOAD', '"hash" costs more than this server computes.');
  return hash;
}
