/** Signing in: by e-mail address and password, then a one-time code where the account asks for it; or by a provider. */
import { takeParameter } from './address.js';
import { find, onPress, showPart } from './elements.js';
import { onSubmit } from './form.js';
import { say } from './message.js';
import { ask, text } from './request.js';
import { resume, signIn } from './session.js';

/** @import { Failure } from './request.js' */

const account = new URL('two-factor', location.href);

/** Credentials to send again with the code. */
let credentials = { email: '', password: '' };

onSubmit('password', async (value) => {
  credentials = { email: value('email'), password: value('password') };
  const failure = await signIn(credentials);
  if (failure?.code !== 'INVALID_OTP') return finish(failure);
  showPart('otp');
  return null;
});

onSubmit('otp', async (value) => {
  const failure = await signIn({ ...credentials, otp: value('otp').replaceAll(' ', '') });
  return finish(failure);
});

onPress('[data-back]', () => showPart('password'));

/** @param {Failure | null} failure */
async function finish(failure) {
  if (failure !== null) return failure;
  // Where the browser has kept no cookie, the next page would lead back to this one without a word.
  const lost = await resume();
  if (lost === null) location.replace(account);
  return lost;
}

async function offerProviders() {
  const { data, failure } = await ask('GET', 'auth');
  if (failure !== null) return;
  const list = find('[data-providers] ul', HTMLUListElement);
  const providers = Object.values(data ?? {});
  list.replaceChildren(...providers.map((provider) => entryOf(text(provider, 'name'), text(provider, 'label'))));
  find('[data-providers]', HTMLElement).hidden = providers.length === 0;
}

/**
 * @param {string} name
 * @param {string} label
 */
function entryOf(name, label) {
  const link = document.createElement('a');
  link.className = 'button quiet';
  link.href = `../auth/login/${encodeURIComponent(name)}?redirect=${encodeURIComponent(account.href)}`;
  link.textContent = label || name;
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}

const reason = takeParameter('reason');
if (reason !== null) say(find('[data-reason]', HTMLElement), [`reason:${reason}`, 'reason']);
void offerProviders();
