/** Generated clients against a running server: what they answer is of the type that was inferred for it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilerOptions } from '../support/compilers.ts';
import type { TestDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { adminToken, createProject, type Platform } from '../support/platform.ts';
import { type DrawnQuery, drawQuery, readFacts } from '../support/random-queries.ts';
import { readTypes } from '../support/type-validator.ts';

const queries = Number(process.env.TYPED_QUERIES ?? 60);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

interface Handler {
  readonly readByQuery: (query: object) => Promise<{ readonly data: unknown }>;
}
interface Client {
  readonly items: (collection: string) => Handler & Readonly<Record<string, unknown>>;
}

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let server: Platform;
beforeAll(async () => {
  database = await createMagazineDatabase();
  project = await createProject('fixtures/magazine');
  // Random queries nest lists without limits.
  server = await startHosted(project.folder, database.url, { QUERY_ROWS_MAX: '1000000000' });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([database?.drop(), project?.remove()]);
});

async function clientOf(name: string): Promise<Client> {
  const { createClient } = await import(pathToFileURL(join(project.folder, 'generated/client', name, 'index.js')).href);
  return createClient(server.url, name === 'admin' ? { auth: { staticToken: adminToken } } : {});
}

describe.each(['public', 'admin'])('the client of %s', (name) => {
  it('answers random queries by values of their types', { timeout: 300_000 }, async () => {
    const facts = readFacts(join(project.folder, 'generated/client', name));
    const random = randomOf(seed);
    const client = await clientOf(name);
    const collections = [...facts.keys()].filter((one) => isListed(client, one));
    expect(collections.length).toBeGreaterThan(5);
    const drawn = Array.from({ length: queries }, () =>
      drawQuery(facts, collections[random(collections.length)] ?? '', random),
    );
    const file = join(project.folder, `queries-${name}.ts`);
    await writeFile(file, programOf(name, drawn));
    const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, project.folder);
    const types = readTypes(file, { ...options, skipLibCheck: true });
    expect(types.get('Answer0')?.([{ nobody: 'asked' }])).not.toBeNull();
    for (const [index, { collection, query }] of drawn.entries()) {
      const { data } = await client.items(collection).readByQuery(query);
      const fault = types.get(`Answer${index}`)?.(data);
      expect({ seed, collection, query, fault }).toMatchObject({ fault: null });
    }
  });
});

it('has no method that the class may not use, and no collection that it does not see', async () => {
  const client = await clientOf('public');
  expect(Object.keys(client.items('articles')).sort()).toEqual([
    'aggregate',
    'readAll',
    'readByQuery',
    'readMany',
    'readOne',
  ]);
  expect(() => client.items('orders')).toThrow(new TypeError('There is no collection "orders" for this client.'));
  expect(Object.keys(await clientOf('admin').then(({ items }) => items('articles')))).toContain('deleteMany');
});

function isListed(client: Client, collection: string): boolean {
  try {
    return 'readByQuery' in client.items(collection);
  } catch {
    return false;
  }
}

function programOf(name: string, drawn: readonly DrawnQuery[]): string {
  const lines = drawn.map(({ collection, query }, index) => {
    const call = `api.items(${JSON.stringify(collection)}).readByQuery(${JSON.stringify(query)})`;
    return `const ask${index} = () => ${call};\nexport type Answer${index} = Awaited<ReturnType<typeof ask${index}>>['data'];\n`;
  });
  const start = `import { createClient } from './generated/client/${name}/index.js';\nconst api = createClient('');\n`;
  return start + lines.join('');
}

/** Numbers below a bound, the same for the same seed (mulberry32). */
function randomOf(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
