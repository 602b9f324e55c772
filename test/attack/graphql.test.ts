/**
 * Random documents, answered by the compiled executor and by plain graphql-js resolvers over the same rows: identical JSON,
 * member for member in the same order.
 *
 * GRAPHQL_DOCUMENTS sets how many (2,000 for a long run), PROPERTY_SEED which.
 */
import fc from 'fast-check';
import { execute, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../packages/runtime/src/caller.ts';
import { buildSchemas } from '../../packages/runtime/src/graphql/documents/schemas.ts';
import { type CompiledApi, indexGraphql } from '../../packages/runtime/src/language/index.ts';
import { graphqlServiceRoots } from '../../packages/runtime/src/language/operations/index.ts';
import { drawnSeed } from '../support/drawn-seed.ts';
import { type InProcess, loadApi, openInProcess } from '../support/in-process.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';
import { type DocumentWorld, drawDocument } from './graphql/documents.ts';
import { plainResolvers, type Rows, type Values } from './graphql/resolvers.ts';

const documents = Number(process.env.GRAPHQL_DOCUMENTS ?? 80);
const seed = drawnSeed('PROPERTY_SEED');

let magazine: Magazine;
let direct: InProcess;
let api: CompiledApi;
beforeAll(async () => {
  const limits = {
    GRAPHQL_MAX_COST: '1000000',
    QUERY_ROWS_MAX: '1000000000',
    GRAPHQL_MAX_ALIASES: '10000',
    GRAPHQL_MAX_DEPTH: '50',
  };
  magazine = await startMagazine({ ...limits, GRAPHQL_QUERY_TOKEN_LIMIT: '100000' });
  direct = await openInProcess(magazine.database.url);
  api = await loadApi(magazine.folder);
  console.info(`PROPERTY_SEED=${seed} GRAPHQL_DOCUMENTS=${documents}`);
});
afterAll(async () => {
  await direct?.close();
  await magazine?.close();
});

function isRows(value: unknown): value is readonly Values[] {
  return Array.isArray(value);
}

/** Every row there is, and which of them a role may read. */
async function readRows(role: string): Promise<ReadonlyMap<string, Rows>> {
  const caller = (name: string): Caller => ({
    accessClass: api.access.find(({ roles }) => roles.includes(name))?.name ?? '',
    user: null,
    role: null,
  });
  const rows = new Map<string, Rows>();
  for (const { name, fields, key } of api.collections) {
    const query = { fields: fields.map((field) => field.name), limit: -1 };
    const all = await direct.list(api, caller('admin'), name, query);
    const own = await direct.list(api, caller(role), name, { fields: key, limit: -1 });
    if (!isRows(all)) throw new Error(`"${name}" cannot be read: ${String(all)}`);
    const keyOf = (values: Values): string => JSON.stringify(key.map((part) => values[part]));
    const visible = new Set(isRows(own) ? own.map(keyOf) : []);
    rows.set(name, { all, visible: new Set(all.filter((one) => visible.has(keyOf(one)))), readable: isRows(own) });
  }
  return rows;
}

describe.each(['admin', 'public'])('random documents of the role %s', (role) => {
  it('are answered as plain resolvers answer them', { timeout: 600_000 }, async () => {
    const accessClass = api.access.find(({ roles }) => roles.includes(role))?.name ?? '';
    const sdl = await api.graphql?.(accessClass);
    const schema = buildSchemas(accessClass, sdl ?? '').items.described();
    const index = indexGraphql(api.collections, graphqlServiceRoots);
    const rows = await readRows(role);
    const valuesOf: DocumentWorld['valuesOf'] = (collection, field) =>
      (rows.get(collection)?.all ?? []).slice(0, 50).map((values) => values[field]);
    const resolvers = plainResolvers({ index, rows });
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (g) => {
        const { text, variables } = drawDocument({ schema, index, valuesOf }, g);
        const document = parse(text);
        const faults = validate(schema, document);
        if (faults.length > 0) throw new Error(`${faults.join('\n')}\n${text}`);
        const expected = await execute({ schema, document, variableValues: variables, ...resolvers });
        const token = role === 'admin' ? { token: adminToken } : {};
        const { json } = await magazine.ask('/graphql', { method: 'POST', body: { query: text, variables }, ...token });
        const [answered, wanted] = [JSON.stringify(json.data), JSON.stringify(expected.data)];
        if (answered !== wanted)
          throw new Error(`${text}\n${JSON.stringify(variables)}\n${difference(answered, wanted)}`);
        expect((json.errors ?? []).map(pathOf)).toEqual((expected.errors ?? []).map(pathOf));
      }),
      { numRuns: documents, seed, endOnFailure: true },
    );
  });
});

function pathOf({ path }: { readonly path?: readonly unknown[] | undefined }): string {
  return (path ?? []).join('.');
}

/** What stands around the first character in which two texts differ. */
function difference(answered = '', wanted = ''): string {
  let at = 0;
  while (answered[at] === wanted[at]) at += 1;
  const around = (text: string): string => text.slice(Math.max(0, at - 200), at + 200);
  return `answered: …${around(answered)}…\nwanted:   …${around(wanted)}…`;
}
