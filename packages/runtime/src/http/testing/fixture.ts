/** Parts that the unit tests of the HTTP face share: a small compiled API, and a server over a database that is away. */
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../caller.ts';
import type { Drift } from '../../drift.ts';
import { type Environment, readEnvironment, type Variables } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import type { CollectionDescriptor, CompiledApi } from '../../language/index.ts';
import { always, itemRoutes } from '../../language/index.ts';
import type { PlannedRead, Planner } from '../../query/planner.ts';
import { createLateDatabase } from '../../serve/late-database.ts';
import { createServer } from '../server.ts';

/** Token of the administrator in these tests. */
export const adminToken = 'administrator-token-0123456789';

/** A token of the form of a JSON web token. */
export const webToken = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2ln`;

const articles = describeCollection('articles', false);
const secrets = describeCollection('secrets', false);
const settings = describeCollection('settings', true);
const hiddenSettings = describeCollection('hidden_settings', true);
const collections = [articles, hiddenSettings, secrets, settings];

/** Two collections and two singletons; the public role reads one of each. */
export const api: CompiledApi = {
  contract: 1,
  dialect: 'postgres',
  collections,
  access: [
    { name: 'admin', roles: ['admin'], admin: true, collections: collections.map(readable) },
    { name: 'public', roles: ['public'], admin: false, collections: [articles, settings].map(readable) },
  ],
  routes: [articles, secrets, settings, hiddenSettings].flatMap((collection) => itemRoutes(collection)),
  fingerprint: { hash: '', objects: [] },
  model: async () => ({ collections: [], fields: [], relations: [] }),
  openapi: async (accessClass) => ({ openapi: '3.1.0', info: { title: accessClass, version: '1' } }),
};

/** Requests of a server to its planner, for tests to look at. */
export type Asked = readonly unknown[];

/** Makes a server over a database that is away, with everything the planner was asked written to `asked`. */
export async function startServer(
  variables: Variables = {},
  requested: Asked[] = [],
  drifts: readonly Drift[] = [],
): Promise<FastifyInstance> {
  const { database } = createLateDatabase(refuse);
  const closed = new Set(drifts.map(({ table }) => table));
  return createServer({
    api,
    database,
    environment: environmentOf({ LOG_LEVEL: 'silent', ADMIN_TOKEN: adminToken, ...variables }),
    planner: createPlanner(requested),
    watch: {
      drifts: () => drifts,
      closed: () => closed,
      checked: () => true,
      damaged: () => false,
      refresh: async () => {},
    },
  });
}

/** Reads an environment that must be right. */
export function environmentOf(variables: Variables): Environment {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new Error(reading.problems.map(({ message }) => message).join(' '));
  return reading.environment;
}

function describeCollection(name: string, singleton: boolean): CollectionDescriptor {
  return {
    name,
    table: `"public"."${name}"`,
    key: ['id'],
    singleton,
    writable: true,
    fields: [
      {
        name: 'id',
        column: '"id"',
        type: 'integer',
        native: 'int4',
        wire: { kind: 'i4' },
        nullable: false,
        writable: true,
      },
    ],
    relations: [],
  };
}

function readable({ name }: CollectionDescriptor) {
  return { collection: name, read: [{ fields: ['id'], where: always }] };
}

/** Writes down what it is asked and plans it without a look at the query. */
function createPlanner(requested: Asked[]): Planner {
  function plan(caller: Caller, name: string, byKey: boolean, question: Asked): PlannedRead {
    requested.push(question);
    const collection = collections.find((candidate) => candidate.name === name);
    const access = api.access.find((candidate) => candidate.name === caller.accessClass);
    const visible = access?.collections.some((candidate) => candidate.collection === name);
    if (collection === undefined || visible !== true) throw new PlatformError('FORBIDDEN');
    const statement = { name: `r_${name}`, text: `SELECT t0."id" FROM ${collection.table} t0` };
    const fields = [{ key: 'id', shape: { kind: 'scalar' as const, wire: 'i4' as const } }];
    const many = !byKey && !collection.singleton;
    const planned = { statement, binders: [], cost: 0, many, fields, meta: [], streamed: false };
    return { plan: planned, statement, parameters: [] };
  }
  return {
    list: (caller, { name }, query) => plan(caller, name, false, ['list', caller.accessClass, name, query]),
    search: (caller, { name }, body) => plan(caller, name, false, ['search', caller.accessClass, name, body]),
    read: (caller, { name }, key, query) => plan(caller, name, true, ['read', caller.accessClass, name, key, query]),
    rows: (caller, name) => plan(caller, name, false, ['rows', caller.accessClass, name]),
  };
}

async function refuse(): Promise<never> {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}
