/** The command `npm start` in a fresh copy of the repository. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sample, startSample } from '../support/sample.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

it('serves with the token and the administrator that it prints, also when it is started again', async () => {
  expect((await sample.ask('/items/articles?limit=1')).status).toBe(200);
  expect((await sample.admin('/items/orders?limit=1')).status).toBe(200);
  await sample.restart();
  const signedIn = await sample.ask('/auth/login', { method: 'POST', body: sample.administrator });
  expect(signedIn.status).toBe(200);
  const me = await sample.ask('/users/me?fields=email', { token: signedIn.json.data.access_token });
  expect(me.json.data).toEqual({ email: sample.administrator.email });
});
