/** A filter operator and a portable type are each declared in one place, and each dialect has a line for them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedProject, serveProject } from '../support/project.ts';
import { copyRepository, type Scratch } from '../support/scratch.ts';

const language = 'packages/runtime/src/language';

/** `_like`: a member of the family of text, and a line a dialect. */
async function addOperator({ insert }: Scratch): Promise<void> {
  await insert(`${language}/operators/text.ts`, "  | '_ncontains'", "  | '_like'\n");
  await insert(`${language}/operators/text.ts`, '  _ncontains: {', '  _like: matching,\n');
  await insert('packages/runtime/src/dialects/postgres/select.ts', "  _ncontains: '", "  _like: 'LIKE',\n");
  await insert('packages/runtime/src/dialects/mysql/select.ts', "  _ncontains: '", "  _like: '{} LIKE $',\n");
}

const declaration = `import { fromText } from './decoding.ts';
import type { TypeDefinition } from './definition.ts';

/** Address of a network. */
export const address: TypeDefinition = {
  decode: fromText((text) => (/^[0-9.]+$/.test(text) ? text : undefined), 'an address'),
  family: 'address',
  comparison: 'choice',
  typescript: { value: 'string' },
  schema: { type: 'string', pattern: '^[0-9.]+$' },
  graphql: { value: 'String', filter: 'enum' },
  forms: {
    binary: { native: 'text', comparison: '::text', wire: { kind: 'text', cast: '::text' } },
    text: { native: 'text', wire: { kind: 'text' } },
  },
};
`;

/** `address`: a file, its name in the index, and a line of introspection. */
async function addType({ insert, write }: Scratch): Promise<void> {
  await write(`${language}/types/address.ts`, declaration);
  await insert(`${language}/types/index.ts`, 'import { array }', "import { address } from './address.ts';\n");
  await insert(`${language}/types/index.ts`, "  | 'text'", "  | 'address'\n");
  await insert(`${language}/types/index.ts`, '  text,', '  address,\n');
  await insert('packages/introspect/src/postgres/types.ts', "  ['cidr', ", "  ['inet', 'address'],\n");
}

let scratch: Scratch;
let project: ServedProject;
beforeAll(async () => {
  scratch = await copyRepository();
  await addOperator(scratch);
  await addType(scratch);
  const support: { readonly serveProject: typeof serveProject } = await import(
    pathToFileURL(join(scratch.folder, 'test/support/project.ts')).href
  );
  project = await support.serveProject({
    sql: `CREATE TABLE hosts (id int PRIMARY KEY, name text, reached inet);
      INSERT INTO hosts VALUES (1, 'abc', '10.0.0.1'), (2, 'axc', '10.0.0.2'), (3, 'a%d', NULL);`,
    permissions: 'permissions:\n  public:\n    hosts: { read: true }\n',
  });
});
afterAll(async () => {
  await project?.close();
  await scratch?.remove();
});

async function listed(query: string): Promise<unknown> {
  return (await project.ask(`/items/hosts?fields=id&${query}`)).json;
}

test('REST filters by both', async () => {
  expect(await listed('filter[name][_like]=a_c')).toEqual({ data: [{ id: 1 }, { id: 2 }] });
  expect(await listed('filter[reached][_in]=10.0.0.2')).toEqual({ data: [{ id: 2 }] });
  expect(await listed('filter[reached][_eq]=here')).toMatchObject({
    errors: [{ message: expect.stringContaining('an address') }],
  });
});

test('GraphQL filters by both', async () => {
  const query =
    '{ a: hosts(filter: { name: { _like: "a_c" } }) { id } b: hosts(filter: { reached: { _eq: "10.0.0.1" } }) { reached } }';
  const { json } = await project.ask('/graphql', { method: 'POST', body: { query } });
  expect(json).toEqual({ data: { a: [{ id: 1 }, { id: 2 }], b: [{ reached: '10.0.0.1' }] } });
});

test('OpenAPI and the schema of GraphQL describe both', async () => {
  const { json } = await project.ask('/server/specs/oas');
  const { schemas } = json.components;
  expect(JSON.stringify(schemas.TextCondition)).toContain('"_like"');
  expect(JSON.stringify(schemas)).toContain('"pattern":"^[0-9.]+$"');
  const { text } = await project.ask('/server/specs/graphql');
  expect(text).toMatch(/input string_filter_operators \{[^}]*\b_like: String/);
});

test('types of clients and the guide have both, printed anew', async () => {
  const script =
    "const p = await import('./scripts/reference/operators.ts'); console.log(p.printFilterTypes() + p.printOperators())";
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: scratch.folder,
  });
  expect(stdout).toContain('readonly _like?: string;');
  expect(stdout).toMatch(/\| `string` `text` .*`_like`/);
  expect(stdout).toMatch(/\| `address` `enum` `uuid` .*`_in`/);
});
