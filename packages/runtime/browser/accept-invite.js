/** Accepting an invitation: the token of the mail and a password. */
import { takeParameter } from './address.js';
import { showPart } from './elements.js';
import { onSubmit } from './form.js';
import { ask } from './request.js';

const token = takeParameter('token');

onSubmit('password', async (value) => {
  const body = { token, password: value('password') };
  const { failure } = await ask('POST', 'users/invite/accept', { body });
  if (failure === null) showPart('done');
  return failure;
});

showPart(token === null ? 'missing' : 'form');
