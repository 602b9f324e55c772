/** Columns and tables whose names mean something to JavaScript, from the compiler to every surface. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClassDocument } from '../support/class-documents.ts';
import { onServer } from '../support/contract-database.ts';
import { file, form } from '../support/files.ts';
import { adminToken } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';
import { typeCheck } from '../support/type-check.ts';

/** Members of every object. */
const names = ['toString', 'constructor', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', '__defineGetter__'] as const;
const columns = [...names, 'prototype', 'then', 'default', 'length', 'toJSON'];

describe.each(allServers)('$name', ({ dialect, missing }) => {
  if (missing) return void it.skip('is not there');

  let project: ServedProject;
  beforeAll(() =>
    onServer(dialect, async () => {
      project = await serveProject({
        system: true,
        sql: `CREATE TABLE words (id integer PRIMARY KEY, ${columns.map((name) => `"${name}" varchar(20)`).join(', ')},
            "__proto__" varchar(20));
          CREATE TABLE "constructor" (id integer PRIMARY KEY, "toString" integer REFERENCES words (id), "valueOf" varchar(9));
          CREATE TABLE renamed (id integer PRIMARY KEY, "__proto__" varchar(9));
          INSERT INTO renamed VALUES (1, 'p');
          INSERT INTO words VALUES (1, ${columns.map((name) => `'${name}'`).join(', ')}, 'p');
          INSERT INTO "constructor" VALUES (1, 1, 'v');`,
        config: `{ collections: { renamed: { fields: { ['__proto__']: { name: 'proto' } } } } }`,
        permissions: `permissions:
  public:
    words: { read: { fields: [id, toString, constructor, prototype, then, default, length, toJSON] } }
    constructor: { read: { fields: [id, toString] } }
`,
      });
    }),
  );
  afterAll(() => project?.close());

  const row = Object.fromEntries([['id', 1], ...columns.map((name) => [name, name])]);

  it('are read', async () => {
    const { text } = await project.admin('/items/words');
    expect(text).toBe(JSON.stringify({ data: [{ ...row, constructor_by_toString: [1] }] }));
    expect(
      (await project.admin('/items/constructor?fields=id,toString.valueOf,toString.constructor')).json.data,
    ).toEqual([{ id: 1, toString: { valueOf: 'valueOf', constructor: 'constructor' } }]);
    const { json } = await project.ask('/items/constructor?fields=toString.constructor');
    expect(json).toEqual({ data: [{ toString: { constructor: 'constructor' } }] });
  });

  it.each(columns)('%s is filtered, sorted and grouped by', async (name) => {
    const filter = encodeURIComponent(JSON.stringify({ [name]: { _eq: name } }));
    for (const query of [`filter[${name}]=${name}`, `filter[${name}][_in]=${name},x`, `filter=${filter}`]) {
      expect((await project.admin(`/items/words?fields=id&${query}`)).json, query).toEqual({ data: [{ id: 1 }] });
    }
    const sorted = await project.admin(`/items/words?fields=${name}&sort=-${name}`);
    expect(sorted.text).toBe(`{"data":[{"${name}":"${name}"}]}`);
    const grouped = await project.admin(`/items/words?groupBy=${name}&aggregate[count]=${name}`);
    expect(grouped.text).toBe(`{"data":[{"${name}":"${name}","count":{"${name}":1}}]}`);
    const aliased = await project.admin(`/items/words?fields=other&alias[other]=${name}`);
    expect(aliased.text).toBe(`{"data":[{"other":"${name}"}]}`);
    const query = { filter: { [name]: { _eq: name } }, fields: [name] };
    const searched = await project.admin('/items/words', { method: 'SEARCH', body: { query } });
    expect(searched.json).toEqual({ data: [{ [name]: name }] });
    expect((await project.admin(`/items/constructor?filter[toString][${name}]=${name}`)).json.data).toHaveLength(1);
  });

  it.each(columns)('%s is written', async (name) => {
    const path = `/items/words/1?fields=${name}`;
    expect((await project.admin(path, { method: 'PATCH', body: { [name]: 'x' } })).json.data).toEqual({ [name]: 'x' });
    expect((await project.admin(path, { method: 'PATCH', body: { [name]: name } })).json.data[name]).toBe(name);
    const body = { id: 2, toString: { id: 2, [name]: 'y' } };
    expect((await project.admin('/items/constructor', { method: 'POST', body })).status).toBe(200);
    expect((await project.admin('/items/words/2')).json.data[name]).toBe('y');
    await project.admin('/items/constructor/2', { method: 'DELETE' });
    await project.admin('/items/words/2', { method: 'DELETE' });
  });

  it('the name that no body may have is that of nothing, and the compiler says so', async () => {
    for (const query of ['fields=__proto__', 'sort=__proto__', 'groupBy=__proto__']) {
      expect(failure(await project.admin(`/items/words?${query}`)), query).toBe('403 FORBIDDEN');
    }
    expect(failure(await project.admin('/items/words?filter[__proto__]=x'))).toBe('400 INVALID_QUERY');
    const body: unknown = JSON.parse('{"__proto__":"x"}');
    expect(failure(await project.admin('/items/words/1', { method: 'PATCH', body }))).toBe('400 INVALID_PAYLOAD');
    expect((await project.admin('/items/renamed')).json.data).toEqual([{ id: 1, proto: 'p' }]);
    expect((await project.admin('/items/renamed/1', { method: 'PATCH', body: { proto: 'q' } })).json.data.proto).toBe(
      'q',
    );
  });

  it('come in files and out of them', async () => {
    const { text } = await project.admin(`/items/words?export=csv&fields=id,${columns.join()}`);
    expect(text.split('\r\n')[0]).toBe(`id,${columns.join()}`);
    const nested = await project.admin('/items/constructor?export=csv&fields=id,toString.id,toString.valueOf');
    expect(nested.text.split('\r\n')[0]).toBe('id,toString.id,toString.valueOf');
    for (const [collection, content] of [
      ['words', text],
      ['constructor', nested.text],
    ] as const) {
      const body = form(file(content, 'items.csv', 'text/csv'));
      const { status, text: answer } = await project.admin(`/utils/import/${collection}`, { method: 'POST', body });
      expect([status, answer]).toEqual([200, '']);
    }
    const proto = form(file('id,__proto__\n1,x', 'items.csv', 'text/csv'));
    expect(failure(await project.admin('/utils/import/words', { method: 'POST', body: proto }))).toBe(
      '400 INVALID_PAYLOAD',
    );
    expect((await project.admin('/items/words')).json.data).toEqual([{ ...row, constructor_by_toString: [1] }]);
  });

  it('are fields of GraphQL, where two underscores at the beginning become one', async () => {
    const ask = async (query: string) => (await project.admin('/graphql', { method: 'POST', body: { query } })).json;
    for (const name of columns) {
      const field = name.replace(/^__/, '_');
      const read = await ask(`{ words(filter: { ${field}: { _eq: "${name}" } }, sort: ["${name}"]) { ${field} } }`);
      expect(read).toEqual({ data: { words: [{ [field]: name }] } });
      const written = await ask(`mutation { update_words_item(id: 1, data: { ${field}: "${name}" }) { ${field} } }`);
      expect(written).toEqual({ data: { update_words_item: { [field]: name } } });
    }
    const related = await ask('{ constructor { id toString { valueOf } } }');
    expect(related).toEqual({ data: { constructor: [{ id: 1, toString: { valueOf: 'valueOf' } }] } });
  });

  // Documents name fields alike on all servers, so compilers read them once.
  it.skipIf(dialect !== null)(
    'have types that other generators understand, as far as the compiler tells nothing else',
    async () => {
      const document = await readClassDocument(project.folder, 'openapi', 'public');
      const types = astToString(await openapiTypescript(document, { silent: true }));
      const folder = join(project.folder, 'generator');
      await mkdir(join(folder, 'generated'), { recursive: true });
      await writeFile(join(folder, 'generated', 'api.ts'), types);
      expect(await typeCheck(folder)).toBe('');
    },
    60_000,
  );

  it('have types of our client', async () => {
    const tests = columns.map(
      (name) => `
      await api.items('words').readByQuery({ filter: { ${JSON.stringify(name)}: { _eq: 'x' } }, fields: ['id', ${JSON.stringify(name)}], sort: [${JSON.stringify(name)}] });
      await api.items('words').updateOne(1, { ${JSON.stringify(name)}: 'x' });`,
    );
    const folder = join(project.folder, 'generated', 'use.ts');
    await writeFile(
      folder,
      `import { createClient } from './client/admin/index.js';
export async function use(): Promise<readonly unknown[]> {
  const api = createClient('http://localhost', { auth: { staticToken: 'x' } });
  const [word] = (await api.items('words').readByQuery({ filter: { id: { _eq: 1 } } })).data;
  const text: string | null | undefined = word?.toString;
  const other: string | null | undefined = word?.constructor;
  const part: string | null | undefined = (await api.items('constructor').readOne(1, { fields: ['toString.valueOf'] })).toString?.valueOf;
  // @ts-expect-error There is no such field.
  await api.items('words').readByQuery({ filter: { toLocaleString: { _eq: 'x' } } });
  ${tests.join('')}
  return [text, other, part];
}
`,
    );
    if (dialect === null) expect(await typeCheck(project.folder)).toBe('');
    const { createClient } = await import(pathToFileURL(join(project.folder, 'generated/client/admin/index.js')).href);
    const api = createClient(project.url, { auth: { staticToken: adminToken } });
    const { data } = await api.items('words').readByQuery({ filter: { toString: { _eq: 'toString' } } });
    expect(data).toEqual([{ ...row, constructor_by_toString: [1] }]);
    expect((await api.items('words').updateOne(1, { toString: 'toString' })).toString).toBe('toString');
    expect(await api.items('constructor').readOne(1)).toEqual({ id: 1, toString: 1, valueOf: 'v' });
    expect(() => api.items('toString')).toThrow('There is no collection');
  });
});
