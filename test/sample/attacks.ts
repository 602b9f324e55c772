/** Hostile clients of the sample, as `npm start` serves it: what others were able to do to it once. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import type { Sample } from '../support/sample.ts';

/** Declares the tests. The last of them uses up what an address may guess. */
export function attackSample(sampleOf: () => Sample): void {
  let sample: Sample;
  /** An access token of the first administrator, and the keys of that user and role. */
  let owner: { readonly token: string; readonly id: string; readonly role: string };
  beforeAll(async () => {
    sample = sampleOf();
    const { json } = await sample.ask('/auth/login', { method: 'POST', body: sample.administrator });
    const token = json.data.access_token;
    const me = await sample.ask('/users/me?fields=id,role', { token });
    owner = { token, ...me.json.data };
  });

  const send = (
    method: string,
    path: string,
    body: string | object,
    token: string = sample.adminToken,
  ): Promise<Answer> => sample.ask(path, { method, body, token });
  const message = (answer: Answer): string => answer.json.errors[0].message;

  describe('bodies', () => {
    it('have every key once', async () => {
      for (const [path, body, key, place] of [
        ['/auth/login', '{"email":"a@example.com","password":"x","p\\u0061ssword":"y"}', 'password', '$.password'],
        ['/users', '[{"email":"a@example.com"},{"role":null,"role":"x"}]', 'role', '$[1].role'],
        ['/items/articles', '{"title":"a","author_id":{"name":"x","name":"y"}}', 'name', '$.author_id.name'],
        ['/graphql', '{"query":"{ articles { id } }","variables":{"a":{"b":1,"b":2}}}', 'b', '$.variables.a.b'],
        ['/utils/hash/generate', '{"string":"a","string":"b"}', 'string', '$.string'],
      ] as const) {
        const answer = await send('POST', path, body);
        expect([path, failure(answer), message(answer)]).toEqual([
          path,
          '400 INVALID_PAYLOAD',
          `The body has the key "${key}" twice, at ${place}.`,
        ]);
      }
    });

    it('have numbers with all their digits', async () => {
      for (const id of ['9007199254740994', '9007199254740993']) {
        const made = await send(
          'POST',
          '/items/articles?fields=id',
          `{"id":${id},"title":"Large","slug":"large-${id}"}`,
        );
        expect([made.status, made.json.data?.id]).toEqual([200, id]);
        const found = await send('SEARCH', '/items/articles', `{"keys":[${id}],"query":{"fields":["id"]}}`);
        expect(found.json.data).toEqual([{ id }]);
        expect((await send('DELETE', '/items/articles', `[${id}]`)).status).toBe(204);
      }
    });
  });

  it('a parent that there is not is named', async () => {
    const answer = await send('PATCH', '/items/articles/1', { author_id: 987654 });
    expect([failure(answer), message(answer)]).toEqual([
      '400 FAILED_VALIDATION',
      '"author_id" cannot be linked: there is no authors with the key "987654".',
    ]);
  });

  describe('administrators', () => {
    it('are not touched by others, and others are', async () => {
      const role = await send('POST', '/roles?fields=id', { name: 'keeper' });
      const password = 'a long enough password';
      const user = await send('POST', '/users?fields=id', {
        email: 'keeper@example.com',
        password,
        role: role.json.data.id,
      });
      const signedIn = await sample.ask('/auth/login', {
        method: 'POST',
        body: { email: 'keeper@example.com', password },
      });
      const { access_token: token } = signedIn.json.data;
      for (const [method, path, body] of [
        ['PATCH', `/users/${owner.id}`, { first_name: 'Mallory' }],
        ['PATCH', `/users/${owner.id}`, { status: 'suspended' }],
        ['DELETE', `/users/${owner.id}`, {}],
        ['PATCH', `/users/${user.json.data.id}`, { role: owner.role }],
        ['PATCH', `/roles/${owner.role}`, { users: [user.json.data.id] }],
      ] as const) {
        expect([path, failure(await send(method, path, body, token))]).toEqual([path, '403 FORBIDDEN']);
      }
      expect((await sample.ask('/users/me', { token: owner.token })).status).toBe(200);
    });
  });

  it('utilities take one value of each parameter', async () => {
    for (const query of ['length=32&length=5', 'length[]=5', 'length[a]=5', 'length=5&l%65ngth=5']) {
      expect([query, failure(await sample.ask(`/utils/random/string?${query}`))]).toEqual([query, '400 INVALID_QUERY']);
    }
  });

  it('names of relations are names of fields', async () => {
    for (const name of ['two words', '_and', 'a.b', '__proto__']) {
      const answer = await send('PATCH', '/relations/articles/author_id', { meta: { one_field: name } });
      expect([name, failure(answer)]).toEqual([name, '400 INVALID_PAYLOAD']);
    }
  });

  it('who owes a second factor changes nothing else', async () => {
    const role = await send('POST', '/roles?fields=id', { name: 'strict', enforce_tfa: true });
    const credentials = { email: 'strict@example.com', password: 'a long enough password' };
    const user = await send('POST', '/users?fields=id', { ...credentials, role: role.json.data.id });
    expect(user.status).toBe(200);
    const signedIn = await sample.ask('/auth/login', { method: 'POST', body: credentials });
    const { access_token: token } = signedIn.json.data;
    expect((await sample.ask('/users/me', { token })).status).toBe(200);
    for (const [method, path, body] of [
      ['PATCH', '/users/me', { first_name: 'x' }],
      ['POST', '/graphql', { query: '{ articles { id } }' }],
    ] as const) {
      expect([path, failure(await send(method, path, body, token))]).toEqual([path, '403 FORBIDDEN']);
    }
    const offered = await send('POST', '/users/me/tfa/generate', { password: credentials.password }, token);
    expect(offered.json.data.secret).toHaveLength(32);
  });

  // Last, because guesses count with failed sign-ins.
  describe('static tokens', () => {
    it('are no words, and not to be guessed', async () => {
      const patch = (token: string) => send('PATCH', `/users/${owner.id}`, { token });
      const answers = [
        await patch('a'),
        await patch('null'),
        await patch(' '.repeat(20)),
        await patch('nullnullnullnullnull'),
      ];
      for (const answer of answers) expect(failure(answer)).toBe('400 FAILED_VALIDATION');
      const guesses: string[] = [];
      for (let guess = 0; guess < 70; guess++) {
        guesses.push(failure(await sample.ask('/items/articles?limit=1', { token: `guess-number-${guess}-of-many` })));
      }
      expect(guesses[0]).toBe('401 INVALID_CREDENTIALS');
      expect(guesses.at(-1)).toBe('429 REQUESTS_EXCEEDED');
      // Whoever is known already is heard, and so is everybody without a token.
      expect((await sample.ask('/users/me', { token: owner.token })).status).toBe(200);
      expect((await sample.admin('/items/orders?limit=1')).status).toBe(200);
      expect((await sample.ask('/items/articles?limit=1')).status).toBe(200);
    });
  });
}
