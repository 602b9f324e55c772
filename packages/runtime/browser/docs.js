/**
 * The documentation page: shows the OpenAPI document of the caller that is chosen in its head, and tries requests as that
 * caller. The token lies in this module's memory, so it is gone with the page.
 */

/**
 * @typedef {object} SwaggerRequest
 * @property {string} url
 * @property {Record<string, string>} headers
 */

/**
 * @typedef {object} SwaggerUi
 * @property {{ readonly updateUrl: (url: string) => void, readonly download: (url: string) => void }} specActions
 */

/** @typedef {(options: object) => SwaggerUi} SwaggerUiBundle */

const address = 'server/specs/oas';
let token = '';

/** @param {SwaggerRequest} request */
function asCaller(request) {
  if (token !== '') request.headers = { ...request.headers, Authorization: `Bearer ${token}` };
  return request;
}

/** The dialogs of the library would be a second place for tokens. */
const withoutDialogs = {
  wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
};

/** @type {SwaggerUiBundle} */
const createUi = Reflect.get(globalThis, 'SwaggerUIBundle');
const ui = createUi({
  dom_id: '#docs',
  url: address,
  requestInterceptor: asCaller,
  plugins: [withoutDialogs],
  // Nobody else is asked whether the document is valid.
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
});

/**
 * Shows what this caller may do.
 *
 * @param {string} chosen
 * @param {string} message
 */
function become(chosen, message) {
  token = chosen;
  say(message);
  ui.specActions.updateUrl(address);
  ui.specActions.download(address);
}

/** @param {string} message */
function say(message) {
  element('status').textContent = message;
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element "${id}".`);
  return found;
}

/** Carries on with the session whose cookie the browser has. A refresh token works once, so one tab at a time uses it. */
async function resume() {
  const refresh = async () => {
    const body = JSON.stringify({ mode: 'cookie' });
    const response = await fetch('auth/refresh', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    /** @type {{ readonly data?: { readonly access_token?: string } }} */
    const answer = response.ok ? await response.json() : {};
    return answer.data?.access_token ?? '';
  };
  return 'locks' in navigator ? navigator.locks.request('platform-session', refresh) : refresh();
}

element('caller').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = element('token');
  const given = field instanceof HTMLInputElement ? field.value.trim() : '';
  become(given, given === '' ? 'Without a token.' : 'With the token.');
});

element('session').addEventListener('click', async () => {
  const found = await resume();
  if (found === '') say('Nobody is signed in here: sign in at admin/login, or give a token.');
  else become(found, 'As the user who is signed in.');
});

element('nobody').addEventListener('click', () => become('', 'Without a token.'));
