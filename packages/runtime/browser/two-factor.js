/** The account of who is signed in: setting up a second factor, recovery codes, giving it up, signing out. */
import { takeParameter } from './address.js';
import { find, onPress, showPart } from './elements.js';
import { onSubmit } from './form.js';
import { notice, sayFailure } from './message.js';
import { drawQrCode } from './qr-code.js';
import { member, text } from './request.js';
import { askAsUser, resume, signOut } from './session.js';

/** The key that waits to be confirmed. */
let secret = '';

onSubmit('begin', async (value) => {
  const { data, failure } = await tfa('generate', { password: value('password') });
  // Users who may not read their own second factor learn only here that there is one.
  if (failure?.code === 'INVALID_PAYLOAD') showPart('on');
  else if (failure === null) offer(text(data, 'secret'), text(data, 'otpauth_url'));
  return failure?.code === 'INVALID_PAYLOAD' ? null : failure;
});

onSubmit('confirm', async (value) => {
  const { failure } = await tfa('enable', { secret, otp: code(value('otp')) });
  if (failure !== null) return failure;
  forget();
  showPart('on');
  notice('enabled');
  return null;
});

onSubmit('codes', async (value) => {
  const { data, failure } = await tfa('recovery-codes', { otp: code(value('otp')) });
  if (failure === null) showCodes(Object.values(member(data, 'recovery_codes') ?? {}).map(String));
  return failure;
});

onSubmit('disable', async (value) => {
  const { failure } = await tfa('disable', { otp: code(value('otp')) });
  if (failure !== null) return failure;
  showPart('off');
  notice('disabled');
  return null;
});

onPress('[data-cancel]', () => {
  forget();
  showPart('off');
});

onPress('[data-copy]', async () => {
  const codes = [...document.querySelectorAll('[data-codes] li')].map(({ textContent }) => textContent);
  const copied = await copy(codes.join('\n'));
  notice(copied ? 'copied' : 'uncopied');
});

onPress('[data-done]', () => {
  find('[data-codes]', HTMLElement).replaceChildren();
  showPart('on');
  notice('');
});

onPress('[data-sign-out]', async () => {
  const failure = await signOut();
  // Another tab may have signed out already.
  if (failure === null || noSession.has(failure.code)) leave();
  else sayFailure(find('[data-trouble]', HTMLElement), failure);
});

/**
 * @param {string} action
 * @param {object} body
 */
async function tfa(action, body) {
  notice('');
  const result = await askAsUser('POST', `users/me/tfa/${action}`, body);
  // Where no password is asked for, no other credentials can be wrong than those of the session.
  if (result.failure?.code === 'INVALID_CREDENTIALS' && action !== 'generate') leave();
  return result;
}

/**
 * Apps show their codes in groups.
 *
 * @param {string} typed
 */
function code(typed) {
  return typed.replaceAll(' ', '');
}

/**
 * @param {string} key
 * @param {string} address
 */
function offer(key, address) {
  secret = key;
  find('[data-secret]', HTMLElement).textContent = key.replaceAll(/.{4}(?!$)/g, '$& ');
  find('[data-app]', HTMLAnchorElement).href = address;
  drawQrCode(find('[data-qr]', SVGSVGElement), address);
  showPart('confirm');
}

/** The key is on the page only as long as it waits. */
function forget() {
  secret = '';
  find('[data-secret]', HTMLElement).textContent = '';
  find('[data-app]', HTMLAnchorElement).removeAttribute('href');
  find('[data-qr]', SVGSVGElement).replaceChildren();
}

/** @param {readonly string[]} codes */
function showCodes(codes) {
  const entries = codes.map((text) => {
    const entry = document.createElement('li');
    entry.textContent = text;
    return entry;
  });
  find('[data-codes]', HTMLElement).replaceChildren(...entries);
  showPart('codes');
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** @param {string | null} [reason] */
function leave(reason = null) {
  location.replace(reason === null ? 'login' : `login?reason=${encodeURIComponent(reason)}`);
}

/** @param {string | null} reason */
async function begin(reason) {
  if (reason !== null) return leave(reason);
  const refused = await resume();
  const { data, failure } = refused === null ? await askAsUser('GET', 'users/me') : { data: null, failure: refused };
  if (failure !== null) {
    if (noSession.has(failure.code)) leave();
    else sayFailure(find('[data-trouble]', HTMLElement), failure);
    return;
  }
  const email = text(data, 'email');
  find('[data-email]', HTMLElement).textContent = email;
  find('[data-known]', HTMLElement).hidden = email === '';
  // Password managers read the account there; as an attribute it outlives a reset of the form.
  find('[data-username]', HTMLInputElement).setAttribute('value', email);
  find('[data-account]', HTMLElement).hidden = false;
  showPart(member(data, 'tfa_secret') === null ? 'off' : 'on');
}

/** Error codes for a browser that is not signed in, or not any more. */
const noSession = new Set(['INVALID_CREDENTIALS', 'INVALID_PAYLOAD', 'TOKEN_EXPIRED']);

void begin(takeParameter('reason'));
