import parser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { emitOpenApi } from './index.ts';
import { brokenLaws } from './testing/generator-laws.ts';
import { accessTo, hostile, magazine, sampleApi, writingAccess } from './testing/sample-api.ts';

const api = sampleApi([...magazine, ...hostile]);

/** openapi-typescript 7.13 decodes paths twice and fails at `%25`, the only way to write a percent sign in one. */
const decodable = sampleApi([...magazine, ...hostile.filter(({ name }) => !name.includes('%'))]);
const people = sampleApi([...magazine, { name: 'platform_users', fields: [{ name: 'id', type: 'uuid' }] }]);
const withUsers = {
  ...people,
  collections: people.collections.map((one) =>
    one.descriptor.name === 'platform_users'
      ? { ...one, descriptor: { ...one.descriptor, system: true as const } }
      : one,
  ),
};
const documents = [
  ['everything', emitOpenApi(api, null)],
  ['a class', emitOpenApi(api, accessTo({ articles: [['id', 'tags']], tags: [['name']] }))],
  ['nothing', emitOpenApi(api, accessTo({}))],
  ['secrets', emitOpenApi(api, accessTo({ articles: [['preview_token']] }))],
  ['a class that writes', emitOpenApi(api, writingAccess({ articles: ['title', 'rating'], settings: ['theme'] }))],
  [
    'a class that writes trees',
    emitOpenApi(
      api,
      writingAccess({ articles: ['title', 'tags', 'sections'], tags: ['name'], sections: ['collection', 'item'] }),
    ),
  ],
  ['everything beside users', emitOpenApi(withUsers, null)],
] as const;

/** It compiles the official schema once. */
const official = new Validator();

describe.each(documents)('the document of %s', (_, document) => {
  /** A copy of its own for each tool: some write into what they are given. */
  function copy(): Record<string, unknown> & Parameters<typeof parser.validate>[0] {
    return JSON.parse(JSON.stringify(document));
  }

  it('is valid by the official schema', async () => {
    const { valid, errors } = await official.validate(copy());
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('is valid by a second validator, with every reference resolved', async () => {
    await expect(parser.validate(copy())).resolves.toBeTruthy();
  });

  it('has schemas that a strict validator of JSON Schema compiles', () => {
    // Nothing runs the code, so it may be long.
    const code = { optimize: false };
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, logger: false, code });
    formats.default(ajv);
    ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components']);
    ajv.addSchema(Object.assign(copy(), { $id: 'document' }));
    const places = schemasIn(copy());
    for (const pointer of new Map(places).values()) ajv.compile({ $ref: `document#${pointer}` });
    expect(places.length).toBeGreaterThan(50);
  });

  it('keeps the laws of generators', () => {
    expect(brokenLaws(copy())).toEqual([]);
  });
});

it.each([
  ['everything', emitOpenApi(decodable, null)],
  ['a class', documents[1][1]],
  ['nothing', documents[2][1]],
  ['a class that writes', documents[3][1]],
])(
  'types generated from the document of %s compile',
  async (_, document) => {
    const text = astToString(await openapiTypescript(JSON.stringify(document), { silent: true }));
    expect(text).toContain('export interface paths');
    expect(typeErrors(text)).toEqual([]);
  },
  30_000,
);

/** What the compiler itself and the generated text take from the standard library. */
const globals = `declare global {
  interface Array<T> { [index: number]: T }
  interface Boolean {} interface Function {} interface CallableFunction {} interface NewableFunction {}
  interface IArguments {} interface Number {} interface Object {} interface RegExp {} interface String {}
  type Record<K extends keyof any, T> = { [P in K]: T };
}`;

/** Schemas of bodies, parameters and headers in a document, which lead to its components: their texts, and pointers to them. */
function schemasIn(value: unknown, pointer = ''): readonly (readonly [text: string, pointer: string])[] {
  if (typeof value !== 'object' || value === null || /\/(components\/schemas|examples?)$/.test(pointer)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    return name === 'schema' ? [[JSON.stringify(inner), place]] : schemasIn(inner, place);
  });
}

/** Compiles a text that needs no other file. */
function typeErrors(text: string): readonly string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noLib: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
  };
  const file = ts.createSourceFile('types.ts', `${text}\n${globals}`, ts.ScriptTarget.ESNext);
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    getSourceFile: (name) => (name === 'types.ts' ? file : undefined),
  };
  const program = ts.createProgram(['types.ts'], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

it('ways to sign in are described where there are users', () => {
  const paths = (described: unknown): readonly string[] => {
    const { paths: all = {} } = JSON.parse(JSON.stringify(described));
    return Object.keys(all).filter((path) => /^\/auth|^\/users\/.*(?:invite|me|tfa)/.test(path));
  };
  const everybody = [
    '/users/me',
    '/users/me/track/page',
    '/auth',
    '/auth/login',
    '/auth/refresh',
    '/auth/logout',
    '/auth/login/{provider}',
    '/auth/login/{provider}/callback',
    '/auth/password/request',
    '/auth/password/reset',
    '/users/invite/accept',
    '/users/me/tfa/generate',
    '/users/me/tfa/enable',
    '/users/me/tfa/disable',
    '/users/me/tfa/recovery-codes',
  ];
  expect(paths(emitOpenApi(withUsers, accessTo({})))).toEqual(everybody);
  const inviting = writingAccess({ platform_users: ['email', 'role'] });
  expect(new Set(paths(emitOpenApi(withUsers, inviting)))).toEqual(new Set([...everybody, '/users/invite']));
  expect(new Set(paths(emitOpenApi(withUsers, null)))).toEqual(
    new Set([...everybody, '/users/invite', '/users/{id}/tfa/disable']),
  );
  expect(paths(emitOpenApi(api, null))).toEqual([]);
});
