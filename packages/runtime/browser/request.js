/** Requests to the server that the page comes from. */

/**
 * Why a request failed, as the first error of the answer says.
 *
 * @typedef {object} Failure
 * @property {string} code `UNREACHABLE` when there was no answer.
 * @property {string} message The server's own words.
 * @property {string | null} rule Of FAILED_VALIDATION: the rule that is broken.
 * @property {number} seconds After which to try again; 0 when nothing is said.
 */

/**
 * Result of a request: its data, null where the answer has none; or why it failed.
 *
 * @typedef {{ readonly data: unknown, readonly failure: null } | { readonly data: null, readonly failure: Failure }} Result
 */

/**
 * Sends a request. Paths are relative to the page, so that a server may lie below any path of its host.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ readonly body?: object, readonly token?: string, readonly keepalive?: boolean }} parts With `keepalive` the request
 *   goes on when the page is left, so that its cookie is kept.
 * @returns {Promise<Result>}
 */
export async function ask(method, path, { body, token, keepalive = false } = {}) {
  try {
    const response = await fetch(`../${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      keepalive,
    });
    const text = await response.text();
    /** @type {unknown} */
    const json = text === '' ? null : JSON.parse(text);
    if (response.ok) return { data: member(json, 'data'), failure: null };
    return { data: null, failure: failureOf(json, Number(response.headers.get('Retry-After') ?? 0)) };
  } catch {
    return { data: null, failure: { code: 'UNREACHABLE', message: '', rule: null, seconds: 0 } };
  }
}

/**
 * A member of something that may be no object; null where there is none.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
export function member(value, name) {
  return new Map(Object.entries(value ?? {})).get(name) ?? null;
}

/**
 * A member that is text; empty where it is not.
 *
 * @param {unknown} value
 * @param {string} name
 */
export function text(value, name) {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/**
 * @param {unknown} json
 * @param {number} seconds
 * @returns {Failure}
 */
function failureOf(json, seconds) {
  const error = member(member(json, 'errors'), '0');
  const extensions = member(error, 'extensions');
  return {
    code: text(extensions, 'code'),
    message: text(error, 'message'),
    rule: text(extensions, 'type') || null,
    seconds,
  };
}
