/** Signing in: by e-mail address and password, then a one-time code where the account asks for it; or by a provider. */
import { takeParameter } from './address.js';
import { find, onPress, showPart } from './elements.js';
import { onSubmit } from './form.js';
import { say } from './message.js';
import { accountPage, offerProviders, resume, signIn } from './session.js';

/** @import { Failure } from './request.js' */

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
  if (lost === null) location.replace(accountPage);
  return lost;
}

const reason = takeParameter('reason');
if (reason !== null) say(find('[data-reason]', HTMLElement), [`reason:${reason}`, 'reason']);
void offerProviders();
