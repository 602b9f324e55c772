/**
 * The session of the browser. The refresh token lies in a cookie that no script reads, the access token in this module's
 * memory, so it is gone with the page.
 */
import { find } from './elements.js';
import { ask, text } from './request.js';

/** @import { Failure, Result } from './request.js' */

let accessToken = '';

/** Where a session begins. */
export const accountPage = new URL('two-factor', location.href);

/**
 * Begins a session.
 *
 * @param {{ readonly email: string, readonly password: string, readonly otp?: string }} credentials
 */
export async function signIn(credentials) {
  return keep(await ask('POST', 'auth/login', { body: { ...credentials, mode: 'cookie' }, keepalive: true }));
}

/** Milliseconds in which the answer to a page that was left brings its cookie. */
const arrival = 1000;

/**
 * Carries on with the session that the browser has. A refresh token works once, so one tab at a time uses it. A page that was
 * left while it did has given its turn away before the answer came: a refused token is tried once more.
 */
export async function resume() {
  const once = () => ask('POST', 'auth/refresh', { body: { mode: 'cookie' }, keepalive: true });
  const refresh = async () => {
    const result = await once();
    if (result.failure?.code !== 'INVALID_CREDENTIALS') return keep(result);
    await new Promise((resolve) => setTimeout(resolve, arrival));
    return keep(await once());
  };
  // Without TLS browsers have no locks, but for servers of their own machine.
  return 'locks' in navigator ? navigator.locks.request('platform-session', refresh) : refresh();
}

/** Ends the session. */
export async function signOut() {
  accessToken = '';
  return (await ask('POST', 'auth/logout', { body: {} })).failure;
}

/**
 * Asks as the user who is signed in.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<Result>}
 */
export async function askAsUser(method, path, body) {
  const send = () => ask(method, path, { ...(body !== undefined && { body }), token: accessToken });
  const result = await send();
  if (result.failure?.code !== 'TOKEN_EXPIRED') return result;
  const failure = await resume();
  return failure === null ? send() : { data: null, failure };
}

/**
 * @param {Result} result
 * @returns {Failure | null}
 */
function keep({ data, failure }) {
  accessToken = text(data, 'access_token');
  return failure;
}

/**
 * Lists the providers, by which people begin a session elsewhere. They bring the token of an invitation where there is one.
 *
 * @param {string | null} [invitation]
 */
export async function offerProviders(invitation = null) {
  const { data, failure } = await ask('GET', 'auth');
  if (failure !== null) return;
  const parameters = new URLSearchParams({ redirect: accountPage.href, ...(invitation !== null && { invitation }) });
  const list = find('[data-providers] ul', HTMLUListElement);
  const providers = Object.values(data ?? {});
  const entryOfProvider = (/** @type {unknown} */ provider) =>
    entryOf(text(provider, 'name'), text(provider, 'label'), parameters);
  list.replaceChildren(...providers.map(entryOfProvider));
  find('[data-providers]', HTMLElement).hidden = providers.length === 0;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {URLSearchParams} parameters
 */
function entryOf(name, label, parameters) {
  const link = document.createElement('a');
  link.className = 'button quiet';
  link.href = `../auth/login/${encodeURIComponent(name)}?${parameters}`;
  link.textContent = label || name;
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}
