/** Answers that shared caches may keep: successful reads without a token, of collections configured so. */

import type { IncomingMessage } from 'node:http';
import { longestKeptMs, type Tags } from '../../caching/tags.ts';
import type { CompiledApi } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { splitTarget } from '../../query/parse/target.ts';
import type { PlannedRead } from '../../query/planner.ts';
import { mayHoldToken } from '../auth/authenticate.ts';
import { findCookie } from '../auth/cookies.ts';
import type { AnswerHeaders } from './answer.ts';

export interface PublicAnswers {
  /** Begins a read whose answer may be kept; null for any other. */
  begin(request: IncomingMessage, planned: PlannedRead): KeptAnswer | null;
}

/** A read whose answer may be kept. It has to see the latest writes, so replicas do not answer it. */
export interface KeptAnswer {
  /** Headers of the answer; none where it has taken so long that a purge may have passed it. */
  headers(): AnswerHeaders;
}

interface PublicAnswersOptions {
  readonly tags: Tags;
  readonly tagHeader: string;
  readonly caching: NonNullable<CompiledApi['caching']>;
  /** True where callers are passed on to policies, which may look anywhere. */
  readonly hasPolicies: boolean;
  /** False while no server that takes writes is known. */
  readonly hasPrimary: () => boolean;
  /** Cookies of signed-in callers, and of those that have written. */
  readonly cookies: readonly string[];
  readonly now?: () => number;
}

/** Tags of one answer at most; beyond it the answer has that of any change. */
const maxTags = 128;

const vary = 'Accept, Accept-Encoding, Authorization, Origin';

export function createPublicAnswers(options: PublicAnswersOptions): PublicAnswers {
  const { tags, tagHeader, caching, hasPolicies, hasPrimary, cookies, now = () => performance.now() } = options;
  const derived = new Set(caching.derived);
  const texts = new WeakMap<object, string>();

  /** Tags of tables: without that of the item, and of its table where nothing else of that is read. */
  function tableTags({ plan: { statement } }: PlannedRead, item: string | undefined): string {
    return findOrCreate(texts, statement, () => {
      const { tables = [] } = statement;
      const isAny = hasPolicies || tables.length > maxTags - 3 || tables.some((table) => derived.has(table));
      const others = isAny ? [tags.any] : tables.flatMap((table) => (table === item ? [] : [tags.table(table)]));
      return [tags.all, ...(item === undefined ? [] : [tags.items(item)]), ...others].join(' ');
    });
  }

  return {
    begin(request, planned) {
      const { kept } = planned.plan.statement;
      if (kept === undefined || !isAnonymous(request, cookies) || !hasPrimary()) return null;
      const began = now();
      return {
        headers() {
          if (now() - began > longestKeptMs) return {};
          const [key] = planned.key ?? [];
          const item = key === undefined ? undefined : kept.item;
          const table = tableTags(planned, item);
          const named = item === undefined || key === undefined ? table : `${tags.item(item, key)} ${table}`;
          const cache = `public, max-age=0, s-maxage=${kept.seconds}`;
          return { cache, vary, isShared: true, headers: [tagHeader, named] };
        },
      };
    },
  };
}

/** True if nothing in a request tells of a caller, of a session or of a write that it has to see. */
function isAnonymous({ method, headers, url = '' }: IncomingMessage, cookies: readonly string[]): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (headers.authorization !== undefined || headers['x-consistency-token'] !== undefined) return false;
  if (mayHoldToken(splitTarget(url).query)) return false;
  const { cookie } = headers;
  return cookie === undefined || cookies.every((name) => findCookie(cookie, name) === null);
}
