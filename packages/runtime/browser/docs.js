/**
 * The documentation page: shows the OpenAPI document of the caller that is chosen in its head, and tries requests as that
 * caller. The token lies in this module's memory, so it is gone with the page.
 */
import { readIndex } from './docs-document.js';
import { create, prose } from './docs-elements.js';
import { showIndex } from './docs-index.js';
import { operationView } from './docs-operation.js';
import { find } from './elements.js';

/** @import { Index } from './docs-worker.js' */

let token = '';
/** @type {Index} */
let shown = { title: '', description: '', tags: [] };

/**
 * Shows what this caller may do.
 *
 * @param {string} chosen
 * @param {string} message
 */
async function become(chosen, message) {
  try {
    const index = await readIndex(chosen);
    token = chosen;
    shown = index;
    say(message);
    showIndex(index);
    find('h1', HTMLElement).textContent = index.title;
    showPlace();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** Shows the tag that the address names, or the one of the operation that it names, which is opened. */
function showPlace() {
  const place = decodeURIComponent(location.hash.slice(1));
  const [start] = shown.tags;
  const tag =
    shown.tags.find(({ name, operations }) => `tag/${name}` === place || operations.some(({ id }) => id === place)) ??
    start;
  const main = find('main', HTMLElement);
  if (tag === undefined) return main.replaceChildren(create('p', {}, 'There is nothing that this caller may do.'));
  main.replaceChildren(
    create('h2', { tabindex: '-1' }, tag.name),
    ...(tag.description === '' ? [] : [create('p', {}, ...prose(tag.description))]),
    ...tag.operations.map((operation) => operationView(operation, () => token)),
  );
  const opened = document.getElementById(place);
  if (opened instanceof HTMLDetailsElement) {
    opened.open = true;
    find('summary', HTMLElement, opened).focus();
    opened.scrollIntoView();
  } else if (place !== '') {
    scrollTo(0, 0);
    find('h2', HTMLElement, main).focus();
  }
}

/** @param {string} message */
function say(message) {
  find('#status', HTMLElement).textContent = message;
}

/** Carries on with the session whose cookie the browser has. A refresh token works once, so one tab at a time uses it. */
async function resume() {
  const refresh = async () => {
    const body = JSON.stringify({ mode: 'cookie' });
    const headers = { 'Content-Type': 'application/json' };
    // The answer brings the next refresh token, also when the page is left meanwhile.
    const response = await fetch('auth/refresh', { method: 'POST', headers, body, keepalive: true });
    /** @type {{ readonly data?: { readonly access_token?: string } }} */
    const answer = response.ok ? await response.json() : {};
    return answer.data?.access_token ?? '';
  };
  return 'locks' in navigator ? navigator.locks.request('platform-session', refresh) : refresh();
}

find('#caller', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const given = find('#token', HTMLInputElement).value.trim();
  void become(given, given === '' ? 'Without a token.' : 'With the token.');
});

find('#session', HTMLButtonElement).addEventListener('click', async () => {
  const found = await resume();
  if (found === '') say('You are not signed in: sign in at admin/login, or enter a token.');
  else await become(found, 'As the user who is signed in.');
});

find('#no-caller', HTMLButtonElement).addEventListener('click', () => become('', 'Without a token.'));
addEventListener('hashchange', showPlace);
void become('', '');
