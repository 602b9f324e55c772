/** The routes of the user who asks. Source: API specification, section 3.1. */
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import type { ItemHandlers, ItemRequest } from './items.ts';
import { mediaTypes, type Responder } from './responses/answer.ts';

/** Handlers of `/users/me`. They reject with the error that answers the request. */
export interface OwnUserHandlers {
  read(request: ItemRequest): Promise<void>;
  update(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
}

/** Options of the handlers. */
interface OwnUserOptions {
  readonly api: CompiledApi;
  readonly items: ItemHandlers;
  readonly responder: Responder;
}

/** Makes the handlers. */
export function createOwnUserHandlers({ api, items, responder }: OwnUserOptions): OwnUserHandlers {
  const readers = new Set(api.access.filter(readsUsers).map(({ name }) => name));
  return {
    async read(request) {
      const id = userOf(request.caller);
      if (readers.has(request.caller.accessClass)) return items.read(request, id);
      const body = Buffer.from(JSON.stringify({ data: { id } }));
      responder.send(request.httpContext, { status: 200, type: mediaTypes.json, body });
    },
    async update(request, body) {
      await items.updateOne(request, userOf(request.caller), body);
    },
  };
}

function readsUsers({ collections }: CompiledApi['access'][number]): boolean {
  return collections.some(({ collection, read }) => collection === 'platform_users' && (read?.length ?? 0) > 0);
}

function userOf({ user }: Caller): string {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return user;
}
