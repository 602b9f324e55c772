/** Accepting an invitation: the token of the mail and a password, or an account elsewhere. */
import { takeParameter } from './address.js';
import { hasPart, showPart } from './elements.js';
import { onSubmit } from './form.js';
import { ask } from './request.js';
import { offerProviders } from './session.js';

const token = takeParameter('token');

onSubmit('password', async (value) => {
  const body = { token, password: value('password') };
  const { failure } = await ask('POST', 'users/invite/accept', { body });
  if (failure === null) showPart('done');
  return failure;
});

const isElsewhere = hasPart('providers');
if (isElsewhere) void offerProviders(token);
showPart(token === null ? 'missing' : isElsewhere ? 'providers' : 'form');
