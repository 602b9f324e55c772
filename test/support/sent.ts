import type { Ask } from './platform.ts';

/** What a request of a test sends beside its address. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
}

/** Writes a request as it is sent: the token as Bearer, and a body that is neither text nor a form as JSON. */
export function sentOf({ token, headers, body }: Ask): Sent {
  const isForm = body instanceof FormData;
  return {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' || isForm ? body : JSON.stringify(body),
  };
}

/** The same as text, for those who look at it: of a form its fields, and of files their names. */
export function sentText(ask: Ask): { readonly headers: Headers; readonly body: string | undefined } {
  const { headers, body } = sentOf(ask);
  if (!(body instanceof FormData)) return { headers: new Headers(headers), body };
  const texts = [...body].map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : value.name,
  ]);
  const told = new Headers({ ...headers, 'content-type': 'multipart/form-data' });
  return { headers: told, body: new URLSearchParams(texts).toString() };
}
