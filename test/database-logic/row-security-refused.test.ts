/** What a database must have before callers are passed on to policies, and what commands say of them. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandResult, createProject, runPlatform, startPlatform } from '../support/platform.ts';
import { poolerVersion, startPooler, withoutPooler } from '../support/pooler.ts';
import { type DatabaseRoles, prepareSecured } from '../support/secured.ts';
import { runWarm } from '../support/warm-command.ts';

const sql = ({ server, member }: DatabaseRoles): string => `
  CREATE TABLE papers (id int PRIMARY KEY, owner text, title text);
  INSERT INTO papers VALUES (1, 'ada', 'one'), (2, 'bob', 'two');
  ALTER TABLE papers ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON papers TO ${member} USING (owner = (current_setting('request.jwt.claims', true)::jsonb ->> 'who'));
  CREATE POLICY server ON papers TO ${server} USING (true);
  GRANT SELECT ON papers TO ${member}, ${server}; GRANT UPDATE (title) ON papers TO ${member};
  CREATE TABLE notes (id int PRIMARY KEY, gone timestamptz);
  GRANT SELECT (id) ON notes TO ${member}; GRANT SELECT ON notes TO ${server};`;

const config = ({ anon, member }: DatabaseRoles): string => `{ database: { rowSecurity: {
  claims: 'request.jwt.claims', roles: { public: '${anon}', member: '${member}' }, extraClaims: { who: 'ada' },
} }, collections: { notes: { softDelete: { field: 'gone' } } } }`;

const permissions = `
roles: { member: {} }
permissions:
  public: { papers: { read: true } }
  member: { papers: { read: true, update: true, delete: true }, notes: { read: { fields: [id] }, delete: true } }
`;

let prepared: Awaited<ReturnType<typeof prepareSecured>>;
beforeAll(async () => {
  prepared = await prepareSecured({ sql, config, permissions });
  const { code, printed } = await platform('generate');
  expect([code, printed]).toEqual([0, expect.any(String)]);
});
afterAll(async () => {
  await Promise.all([prepared?.database.drop(), prepared?.remove()]);
});

/** What a command prints, wherever it prints it. */
async function platform(...args: readonly string[]): Promise<{ readonly code: number; readonly printed: string }> {
  const environment = { DATABASE_URL: prepared.url };
  const { code, stdout, stderr } = await runWarm([...args, '--project', prepared.folder], environment);
  return { code, printed: stdout + stderr };
}

/** A project of the same tables whose configuration names other roles. */
async function refused(roles: string, url: string): Promise<readonly [CommandResult, CommandResult]> {
  const { folder, remove } = await createProject();
  try {
    const text = `export default { database: { rowSecurity: { claims: 'request.jwt.claims'${roles} } } };\n`;
    await writeFile(join(folder, 'platform.config.ts'), text);
    await writeFile(join(folder, 'permissions.yaml'), permissions);
    const environment = { DATABASE_URL: url, PORT: '0', SECRET: 'a secret of tests, which protects nothing at all' };
    const started = await runPlatform(['start', '--generate', '--project', folder], environment);
    return [started, await runWarm(['doctor', '--project', folder], environment)];
  } finally {
    await remove();
  }
}

describe('the start and the doctor refuse, with exit code 1,', () => {
  it('a role that is missing, and one that may not be taken', async () => {
    const roles = `, roles: { public: 'no_such_role', member: 'pg_monitor' }`;
    const [started, examined] = await refused(roles, prepared.url);
    for (const { code, stdout, stderr } of [started, examined]) {
      expect([code, stdout + stderr]).toEqual([
        1,
        expect.stringContaining('The role "no_such_role" of the database does not exist.'),
      ]);
      expect(stdout + stderr).toContain(`may not SET ROLE to "pg_monitor"`);
    }
  });

  it('a connection that no policy binds', async () => {
    for (const { code, stdout, stderr } of await refused('', prepared.superUrl)) {
      expect([code, stdout + stderr]).toEqual([
        1,
        expect.stringMatching(/No policy binds "\w+", the role of DATABASE_URL/),
      ]);
    }
  });
});

it('the doctor warns of an owner without FORCE, and of rights that no GRANT gives', async () => {
  const { server, anon, member } = prepared.roles;
  await prepared.rows(`ALTER TABLE papers OWNER TO ${server}`);
  const { code, printed } = await platform('doctor');
  await prepared.rows('ALTER TABLE papers OWNER TO CURRENT_USER');
  await prepared.rows(`GRANT SELECT ON papers TO ${server}`);
  expect(printed).toContain(`row-security-owner: The policies of papers do not bind its owner "${server}"`);
  expect(printed).toContain(`grant-missing: Rules need "${anon}" to SELECT (id, owner, title) of "public"."papers"`);
  expect(printed).toContain(`Rules need "${member}" to UPDATE (id, owner) of`);
  expect(printed).toContain(`Rules need "${member}" to DELETE "public"."papers"`);
  expect(printed).not.toContain(`Rules need "${member}" to SELECT (id, owner`);
  // A soft delete sets a field, at which each read looks.
  expect(printed).toContain(`Rules need "${member}" to SELECT (gone) of "public"."notes"`);
  expect(printed).toContain(`Rules need "${member}" to UPDATE (gone) of "public"."notes"`);
  expect(printed).not.toContain(`Rules need "${member}" to DELETE "public"."notes"`);
  expect(code).toBe(0);
});

it('without policies that bind the connection items of keys are never null, and a connection that they bind is refused', async () => {
  const { folder, remove } = await createProject();
  await prepared.rows(`CREATE TABLE stamps (id int PRIMARY KEY, paper int NOT NULL REFERENCES papers);
    INSERT INTO stamps VALUES (1, 2); GRANT SELECT ON stamps TO ${prepared.roles.server}`);
  try {
    const rules = 'permissions: { public: { papers: { read: true }, stamps: { read: true } } }\n';
    await writeFile(join(folder, 'permissions.yaml'), rules);
    const config = (text: string) => writeFile(join(folder, 'platform.config.mjs'), `export default { ${text} };\n`);
    const served = async (url: string, args?: readonly string[]) => {
      const server = await startPlatform(folder, url, { LOG_LEVEL: 'silent' }, args);
      const { json } = await server.ask('/graphql', {
        ...{ method: 'POST', body: { query: '{ __type(name: "stamps") { fields { name type { kind } } } }' } },
      });
      const kinds = Object.fromEntries(
        json.data.__type.fields.map(({ name, type }: { name: string; type: { kind: string } }) => [name, type.kind]),
      );
      const { status } = await server.ask('/items/papers?fields=title');
      await server.stop();
      return { status, kind: kinds.paper };
    };
    await config('');
    expect(await served(prepared.superUrl)).toEqual({ status: 200, kind: 'OBJECT' });
    await config('database: { rowSecurity: false }');
    expect(await served(prepared.superUrl)).toEqual({ status: 200, kind: 'NON_NULL' });
    expect(await served(prepared.url, [])).toEqual({ status: 503, kind: 'NON_NULL' });
  } finally {
    await prepared.rows('DROP TABLE stamps');
    await remove();
  }
}, 120_000);

describe('commands ask under the settings of the caller, and print the policies:', () => {
  it('can', async () => {
    const own = await platform('can', 'member', 'read', 'papers', '1');
    expect([own.code, own.printed]).toEqual([0, expect.stringContaining('Yes: member may read papers 1.')]);
    expect(own.printed).toContain(`own for ${prepared.roles.member}: using`);
    const hidden = await platform('can', 'member', 'read', 'papers', '2');
    expect([hidden.code, hidden.printed]).toEqual([
      1,
      expect.stringContaining('The policies of the database hide the item.'),
    ]);
    const none = await platform('can', 'member', 'read', 'papers', '3');
    expect([none.code, none.printed]).toEqual([2, expect.stringContaining('There is no item "3"')]);
  });

  it('diff, which finds nothing where nothing changed', async () => {
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', prepared.folder, ...args]);
    git('init', '--quiet');
    git('add', 'platform.config.ts', 'permissions.yaml', 'platform.schema.json');
    git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-m', 'first');
    const { code, printed } = await platform('diff');
    expect([code, printed]).toEqual([0, expect.stringContaining('0 breaking, 0 dangerous, 0 safe')]);
  });

  it('explain', async () => {
    const read = await platform('explain', 'GET /items/papers?fields=title', '--as', 'member');
    expect(read.printed).toContain(`own for ${prepared.roles.member}: using`);
    // The plan is that of the caller's role: it has the condition of the policy.
    expect(read.printed).toContain('request.jwt.claims');
    const one = await platform('explain', 'GET /items/papers/2', '--as', 'member');
    expect([one.code, one.printed]).toEqual([1, expect.stringContaining('refused  FORBIDDEN')]);
  });

  it('explain with a rehearsal', async () => {
    const write = (key: number) =>
      platform('explain', `PATCH /items/papers/${key}`, '--as', 'member', '--data', '{"title":"x"}', '--rehearse');
    expect((await write(1)).printed).toContain('answer   {"data":{"id":1,"owner":"ada","title":"x"}}');
    expect((await write(2)).printed).toContain('refused  FORBIDDEN');
    expect(await prepared.rows('SELECT title FROM papers ORDER BY id')).toEqual([{ title: 'one' }, { title: 'two' }]);
  });
});

describe.skipIf(poolerVersion === undefined)(`behind PgBouncer${withoutPooler}`, () => {
  it('a pool by transactions leads each caller to its rows, and leaves nothing to the next client', async () => {
    const pooler = await startPooler(prepared.url, 'transaction');
    const server = await startPlatform(prepared.folder, pooler.url, { LOG_LEVEL: 'warn' }, []);
    try {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          at % 2 === 0 ? server.admin('/items/papers?fields=id') : server.ask('/items/papers'),
        ),
      );
      const told = answers.map(({ status, json }) => [status, json.data?.length ?? json.errors[0].extensions.code]);
      expect(told).toEqual(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? [200, 2] : [403, 'FORBIDDEN'])));
    } finally {
      await server.stop();
      await pooler.stop();
    }
  });

  it('a pool by statements stops the start, with exit code 4', async () => {
    const pooler = await startPooler(prepared.url, 'statement');
    const environment = {
      DATABASE_URL: pooler.url,
      PORT: '0',
      SECRET: 'a secret of tests, which protects nothing at all',
    };
    const { code, stderr } = await runPlatform(['start', '--project', prepared.folder], environment);
    await pooler.stop();
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('A pooler stands before the database that has no transactions'),
    ]);
  });
});
