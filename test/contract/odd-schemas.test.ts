/** Tables whose keys and columns have the rarest types: what is read is written again, found, exported and imported. */
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@tablewright/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasAddress } from '../../packages/client/src/call.ts';
import { onServer } from '../support/contract-database.ts';
import { file, form } from '../support/files.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

/** Type of a key, and values of three items as SQL. */
const postgresKeys: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['boolean', ["'t'", "'f'"]],
  ['date', ["'0044-03-15 BC'", "'infinity'", "'2024-02-29'"]],
  ['timestamptz', ["'0044-03-15 12:00+00 BC'", "'-infinity'", "'12026-01-01 00:00:00.5+00'"]],
  ['timestamp', ["'0044-03-15 12:00 BC'", "'2024-01-01'"]],
  ['time', ["'24:00'", "'00:00'"]],
  ['timetz', ["'24:00+00'", "'12:00:00+05:30'"]],
  ['interval', ["'infinity'", "'1 mon -3 days'", "'30 days'"]],
  ['numeric', ["'NaN'", "'Infinity'", "'1.50'"]],
  ['numeric(6,-2)', ["'12300'", "'0'"]],
  ['double precision', ["'NaN'", "'-Infinity'", "'1e-300'"]],
  ['real', ["'NaN'", "'1.1'"]],
  ['bytea', ["''", "'\\xff00'", "'\\x2f'"]],
  ['text', ["''", "'a/b,c'", "'100%'", "'null'", "'.'", "'..'"]],
  ['char(4)', ["'a'", "'ab'"]],
  ['"char"', ["'a'", "'b'"]],
  ['name', ["'x'", "'y z'"]],
  ['mood', ["''", "'a,b'", "'null'", '\'"q"\'']],
  ['inet', ["'::1'", "'10.0.0.1/8'"]],
  ['macaddr8', ["'08:00:2b:01:02:03:04:05'"]],
  ['money', ["'-12.50'", "'0'"]],
  ['positive', ["'1'", "'2'"]],
  ['uuid', ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"]],
  ['short', ["'A'", "'b'"]],
  ['text[]', ["'{}'", "'{a,b}'", `'{NULL,null,""}'`]],
  ['integer[]', ["'{1,2}'", "'{{1,2},{3,4}}'", "'{1}'"]],
  ['smallint[]', ["'{1,2}'", "'{}'"]],
  ['numeric[]', ["'{1.50,NaN}'", "'{}'"]],
  ['inet[]', ["'{10.0.0.1}'", "'{::1,10.0.0.0/8}'"]],
  ['bytea[]', [`'{"\\\\x00ff"}'`]],
  ['mood[]', [`'{"a,b",""}'`, "'{}'"]],
  ['numbers', ["'{1,2}'", "'{}'"]],
  ['pair', ["'(1,a)'", "'(,)'", `'(2,"x,y")'`]],
  ['pair[]', [`'{"(1,a)",NULL}'`, "'{}'"]],
  ['mixed', [`'("(1,a)","{1,2}",1.50)'`]],
  ['jsonb', ["'1.5'", `'"1.5"'`, `'{"a": 1}'`, "'[]'", `'"a"'`]],
];

const familyKeys: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['boolean', ['1', '0']],
  ['bit(1)', ["b'1'", "b'0'"]],
  ['bit(12)', ["b'101010101010'", "b'0'"]],
  ['bit(64)', ['0xFFFFFFFFFFFFFFFF', "b'1'"]],
  ['date', ["'0001-01-01'", "'9999-12-31'"]],
  ['datetime(6)', ["'2024-01-01 00:00:00.5'", "'1000-01-01'"]],
  ['timestamp(3)', ["'2024-01-01 00:00:00.5'", "'1970-01-02 00:00:00'"]],
  ['time(2)', ["'-838:59:59'", "'100:00:00.5'", "'00:00:00'"]],
  ['year', ['2155', '0', '1901']],
  ['decimal(65,30)', ["'-1.5'", "'12345678901234567890123456789012345.123456789012345678901234567890'"]],
  ['bigint unsigned', ['18446744073709551615', '0']],
  ['int(4) unsigned zerofill', ['7', '4294967295']],
  ['mediumint', ['-8388608', '8388607']],
  ['double', ['5e-324', '-0.0', '1e300']],
  ['float', ['0.1', '1e38']],
  ['binary(3)', ["X'00FF41'", "X'000000'"]],
  ['varbinary(9)', ["''", "X'FF2F'"]],
  ['varchar(20)', ["''", "'a/b,c'", "'100%'", "'null'", "'.'", "'..'"]],
  ['varchar(20) CHARACTER SET latin1', ["'ä'", "'b'"]],
  ['char(4)', ["'a'", "'ab'"]],
  ['varchar(4)', [`'""""'`, `'\\\\\\\\'`]],
  ['varchar(4) CHARACTER SET latin1', [`'""""'`]],
  ['char(2)', [`'""'`]],
  ['binary(16)', ["X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'"]],
  [`enum('', 'a,b', 'null', '""""')`, ["''", "'a,b'", "'null'", `'""""'`]],
  ["set('a', 'b', 'c', 'd')", ["''", "'a,b,c,d'", "'b'"]],
  ['inet6', ["'0:0:0:0:0:0:0:1'", "'2001:db8:0:0:0:ff00:42:8329'"]],
  ['uuid', ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"]],
];

const isSame = ({ json }: { readonly json: unknown }, expected: unknown) => isDeepStrictEqual(json, expected);

describe.each(allServers)('$name', ({ dialect, missing }) => {
  if (missing) return void it.skip('is not there');

  const keys = (dialect === null ? postgresKeys : familyKeys).filter(
    ([type]) => dialect !== 'mysql' || !/^(inet6|uuid)$/.test(type),
  );
  const own = `CREATE TYPE mood AS ENUM ('', 'a,b', 'null', '"q"'); CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
    CREATE DOMAIN short AS text; CREATE DOMAIN numbers AS integer[]; CREATE TYPE pair AS (n integer, t text);
    CREATE TYPE mixed AS (p pair, a integer[], d numeric(10, 2));`;
  let project: ServedProject;
  beforeAll(() =>
    onServer(dialect, async () => {
      project = await serveProject({
        system: true,
        sql: `${dialect === null ? own : ''}
          ${keys.map(([type], index) => `CREATE TABLE t${index} (id ${type} NOT NULL, v ${type}, n integer, PRIMARY KEY (id));`).join('\n')}
          ${keys.map(([, values], index) => `INSERT INTO t${index} VALUES ${values.map((value, at) => `(${value}, ${at === 0 ? 'NULL' : value}, ${at})`).join(', ')};`).join('\n')}`,
      });
    }),
  );
  afterAll(() => project?.close());

  /** The client reaches every item one by one, also where no address does. */
  async function useClient(name: string): Promise<void> {
    const auth = { staticToken: adminToken };
    const items = createClient<Record<string, { id: string; n: number }>>(project.url, { auth }).items(name);
    const { data } = await items.readAll();
    for (const { id, n } of data) {
      expect(await items.readOne(id, { fields: ['n'] })).toEqual({ n });
      expect(await items.updateOne(id, { n: n + 100 }, { fields: ['n'] })).toEqual({ n: n + 100 });
      await expect(items.readOne(id, { filter: { n } })).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 });
      await items.deleteOne(id);
      await expect(items.readOne(id)).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 });
      await items.createOne({ id, n });
    }
  }

  it.each(keys.map(([type], index) => [type, `t${index}`] as const))('%s', async (type, name) => {
    const faults: string[] = [];
    const note = (what: string, answer: { status: number; text: string }, isRight: boolean): void => {
      if (!isRight) faults.push(`${what}: ${answer.status} ${answer.text.slice(0, 250)}`);
    };
    const stored = async () => JSON.stringify(await project.rows(`SELECT * FROM ${name} ORDER BY n`));
    const before = await stored();
    const list = await project.admin(`/items/${name}?sort=n`);
    note('list', list, list.status === 200);
    for (const item of list.json.data ?? []) {
      // In a path, a text of JSON that is JSON itself has its quotes.
      const isText = typeof item.id === 'string' && (type !== 'jsonb' || item.id === 'a');
      const key = isText ? item.id : JSON.stringify(item.id);
      const path = `/items/${name}/${encodeURIComponent(key)}`;
      const isPath = hasAddress(key);
      const same = { data: item };
      if (isPath) {
        const one = await project.admin(path);
        note(`GET ${path}`, one, isSame(one, same));
        const back = await project.admin(path, { method: 'PATCH', body: item });
        note(`PATCH ${path}`, back, isSame(back, same));
      }
      const found = await project.admin(`/items/${name}`, { method: 'SEARCH', body: { keys: [item.id] } });
      note(`SEARCH ${key}`, found, isSame(found, { data: [item] }));
      const filtered = await project.admin(`/items/${name}`, {
        method: 'SEARCH',
        body: { query: { filter: { id: { _eq: item.id } } } },
      });
      note(`filter ${key}`, filtered, filtered.status === 400 || isSame(filtered, { data: [item] }));
      const put = await project.admin(`/items/${name}?on_conflict=id`, { method: 'POST', body: item });
      note(`upsert ${key}`, put, isSame(put, same));
    }
    for (const body of [list.json.data?.map(({ id }: { readonly id: unknown }) => id)]) {
      const kept = await project.admin(`/items/${name}`, { method: 'PATCH', body: { keys: body, data: {} } });
      note('PATCH keys', kept, kept.status === 200 && kept.json.data.length === list.json.data.length);
      const gone = await project.admin(`/items/${name}`, { method: 'DELETE', body });
      note('DELETE keys', gone, gone.status === 204 && (await project.rows(`SELECT n FROM ${name}`)).length === 0);
      const made = await project.admin(`/items/${name}?on_conflict=id&sort=n`, {
        method: 'POST',
        body: list.json.data,
      });
      note('POST all', made, isSame(made, list.json));
    }
    const many = await project.admin(`/items/${name}?sort=n`, { method: 'PATCH', body: list.json.data });
    note('PATCH all', many, many.status === 200);
    for (const kind of ['csv', 'json']) {
      const { text } = await project.admin(`/items/${name}?export=${kind}&sort=n`);
      const part = file(text, `items.${kind}`, kind === 'csv' ? 'text/csv' : 'application/json');
      const back = await project.admin(`/utils/import/${name}`, { method: 'POST', body: form(part) });
      note(`import ${kind} ${text.slice(0, 200)}`, back, back.status === 200);
    }
    if ((await stored()) !== before) faults.push(`changed: ${before} ${await stored()}`);
    if (/^(text|varchar\(20\))$/.test(type)) await useClient(name);
    expect(faults.map((fault) => `${type} ${fault}`)).toEqual([]);
  });
});
