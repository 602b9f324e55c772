/** Every argument and every input of a schema, with every value that has ever broken something: E02 and E05 by GraphQL. */
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { createTypes, inJson, texts, types } from './bad-values.ts';
import { expectAnswered, graphqlShot, logged } from './graphql-answers.ts';

let project: ServedProject;
let schema: GraphQLSchema;
beforeAll(async () => {
  const columns = types.map((type, index) => `c${index} ${type}`).join(', ');
  project = await serveProject({
    // Beside other tests a machine may be slow; that is not looked at here.
    environment: { DATABASE_POOL_TIMEOUT: '30s' },
    sql: `
      ${createTypes}
      CREATE TABLE samples (id serial PRIMARY KEY, ${columns.replace(/(c\d+) positive(,|$)/, '$1 positive DEFAULT 1$2')});
      INSERT INTO samples DEFAULT VALUES;
      CREATE TABLE parts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), sample integer REFERENCES samples, size bigint);`,
  });
  schema = buildSchema((await project.admin('/server/specs/graphql')).text);
});
afterAll(() => project?.close());

/** Below this depth inputs repeat themselves. */
const deepest = 3;

/** The places in an input where a value stands: each with its type and the literal that surrounds it. */
function* placesIn(type: GraphQLInputType, depth = 0): Generator<{ type: string; wrap: (inner: string) => string }> {
  yield { type: String(isNonNullType(type) ? type.ofType : type), wrap: (inner) => inner };
  const named = getNamedType(type);
  if (!isInputObjectType(named) || depth === deepest) return;
  const list = isListType(isNonNullType(type) ? type.ofType : type);
  for (const field of Object.values(named.getFields())) {
    for (const { type: inner, wrap } of placesIn(field.type, depth + 1)) {
      yield {
        type: inner,
        wrap: (value) => (list ? `[{${field.name}: ${wrap(value)}}]` : `{${field.name}: ${wrap(value)}}`),
      };
    }
  }
}

function selectionOf({ type }: GraphQLField<unknown, unknown>): string {
  return isObjectType(getNamedType(type)) ? '{ __typename }' : '';
}

/** Arguments that a field cannot do without, but for one. */
function restOf({ args }: GraphQLField<unknown, unknown>, but: string): string {
  const needed = args.filter(({ name, type }) => name !== but && isNonNullType(type));
  return needed.map(({ name }) => `, ${name}: ${name === 'data' ? '{}' : name === 'ids' ? '[1]' : '1'}`).join('');
}

/** Numbers stand in a document as they stand in variables. */
const literals = [...inJson].filter((json) => /^-?[\d.]+(e[+-]?\d+)?$/i.test(json));

/** Every value at every place: in the document, and in variables. They are a million, so each is written once chosen. */
function* shots(kind: 'query' | 'mutation'): Generator<() => Shot> {
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  for (const field of Object.values(root?.getFields() ?? {})) {
    for (const argument of field.args) {
      for (const { type, wrap } of placesIn(argument.type)) {
        const write = (value: string): string =>
          `{ ${field.name}(${argument.name}: ${wrap(value)}${restOf(field, argument.name)}) ${selectionOf(field)} }`;
        const inDocument = (literal: string): Shot => graphqlShot({ query: `${kind} ${write(literal)}` }, adminToken);
        const inVariables = (json: string): Shot => ({
          path: '/graphql',
          method: 'POST',
          body: `{"query":${JSON.stringify(`${kind} ($v: ${type}) ${write('$v')}`)},"variables":{"v":${json}}}`,
          token: adminToken,
        });
        for (const text of texts) yield () => inDocument(JSON.stringify(text));
        for (const literal of literals) yield () => inDocument(literal);
        for (const json of inJson) yield () => inVariables(json);
      }
    }
  }
}

/** A part of them, another one in every run; ATTACK_ALL=1 takes all of them, which takes longer than the limit on two cores. */
function* some(all: Iterable<() => Shot>, part: number): Generator<Shot> {
  const random = seededRandom();
  const share = process.env.ATTACK_ALL === '1' ? 1 : part;
  for (const write of all) if (random() < share) yield write();
}

it('queries: each is answered or refused by the table, and the database never troubled', async () => {
  project.statements.reset();
  let answered = 0;
  const fired = await swarm(project.url, some(shots('query'), 0.0007), (shot, hit) => {
    if (expectAnswered(shot, hit).errors === undefined) answered += 1;
  });
  console.info(`${fired} requests, ${answered} answered`);
  expect(answered).toBeGreaterThan(fired / 50);
  expect([...new Set(project.statements.errors())]).toEqual([]);
  expect(logged(project.log())).toEqual([]);
}, 300_000);

it('mutations: each is answered or refused by the table', async () => {
  let answered = 0;
  const fired = await swarm(project.url, some(shots('mutation'), 0.0007), (shot, hit) => {
    if (expectAnswered(shot, hit).errors === undefined) answered += 1;
  });
  console.info(`${fired} requests, ${answered} answered`);
  expect(answered).toBeGreaterThan(0);
  expect(logged(project.log())).toEqual([]);
}, 300_000);
