/** Requests of a session: with its token, and once more with another when that is outdated. */

import type { Call, JsonValue } from './call.ts';
import { isPlatformError, readAnswer, readJson } from './errors.ts';
import type { Send } from './send.ts';
import type { Session } from './session.ts';
import { unlessAborted } from './waits.ts';

/** Metadata of a response beside its items. */
export interface Meta {
  readonly total_count?: number;
  readonly filter_count?: number;
  /** Cursor of the page after this one; null after the last. */
  readonly next_cursor?: string | null;
  readonly previous_cursor?: string | null;
  readonly [name: string]: JsonValue | undefined;
}

/** Several items. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** Present when the query asked for it. */
  readonly meta?: Meta;
}

/** Sends the requests of handlers. */
export interface Requester {
  send(call: Call): Promise<Response>;
  /** The `data` of the answer. */
  data<T>(call: Call): Promise<T>;
  /** The `data` of the response, or null if it is empty: the written item may not be readable. */
  written<T>(call: Call): Promise<T | null>;
  /** The whole answer; one that is empty has no items. */
  page<T>(call: Call): Promise<Page<T>>;
  /** The whole answer. */
  whole<T>(call: Call): Promise<T>;
  text(call: Call): Promise<string>;
  nothing(call: Call): Promise<void>;
}

/** Makes the requester of a client. */
export function createRequester(send: Send, session: Session): Requester {
  async function sendAs(call: Call): Promise<Response> {
    if (call.isAnonymous) return send(call, null);
    const signal = call.options?.signal;
    const token = await unlessAborted(session.token(), signal);
    try {
      return await send(call, token);
    } catch (error) {
      if (!isPlatformError(error, 'TOKEN_EXPIRED')) throw error;
      const other = await unlessAborted(session.replacement(token), signal);
      if (other === null || other === token) throw error;
      return send(call, other);
    }
  }

  return {
    send: sendAs,
    text: async (call) => (await sendAs(call)).text(),
    whole: async (call) => readAnswer(await sendAs(call)),
    data: async <T>(call: Call) => (await readAnswer<{ readonly data: T }>(await sendAs(call))).data,
    written: async <T>(call: Call) => (await readJson<{ readonly data: T }>(await sendAs(call)))?.data ?? null,
    page: async <T>(call: Call) => (await readJson<Page<T>>(await sendAs(call))) ?? { data: [] },
    async nothing(call) {
      await (await sendAs(call)).body?.cancel();
    },
  };
}
