import type { Ask } from './platform.ts';

/** What a request of a test sends beside its address. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Writes a request as it is sent: the token as Bearer, and a body that is no text as JSON. */
export function sentOf({ token, headers, body }: Ask): Sent {
  return {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  };
}
