/** A new password: without a token the page asks for a mail, with the token of that mail for the password. */
import { takeParameter } from './address.js';
import { showPart } from './elements.js';
import { onSubmit } from './form.js';
import { ask } from './request.js';

const token = takeParameter('token');

onSubmit('ask', async (value) => {
  const { failure } = await ask('POST', 'auth/password/request', { body: { email: value('email') } });
  if (failure === null) showPart('asked');
  return failure;
});

onSubmit('password', async (value) => {
  const body = { token, password: value('password') };
  const { failure } = await ask('POST', 'auth/password/reset', { body });
  if (failure === null) showPart('done');
  return failure;
});

showPart(token === null ? 'ask' : 'form');
