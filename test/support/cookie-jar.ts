/** A fetch that keeps cookies as a browser does for one server: only for requests that include credentials. */
import type { Fetch } from '@tablewright/client';

/** Cookies by name, and the fetch that fills and sends them. */
export interface CookieJar {
  readonly cookies: ReadonlyMap<string, string>;
  readonly fetch: Fetch;
}

/** Makes an empty one. */
export function createCookieJar(): CookieJar {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async fetch(url, init) {
      if (init.credentials !== 'include') return fetch(url, init);
      const headers = new Headers(init.headers);
      if (cookies.size > 0) headers.set('cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
      const response = await fetch(url, { ...init, headers });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '' || /max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
  };
}
