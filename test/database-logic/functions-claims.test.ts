/** Functions run under their caller's claims and role, on every way to them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/platform.ts';
import { type DatabaseRoles, type SecuredProject, serveSecured, type TokenUser } from '../support/secured.ts';

const claims = `nullif(current_setting('request.jwt.claims', true), '')::jsonb`;

const sql = ({ anon, member, admin }: DatabaseRoles): string => `
  CREATE TABLE documents (id int PRIMARY KEY, owner uuid, title text NOT NULL);
  ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON documents TO ${member} USING (owner = (${claims} ->> 'sub')::uuid);
  GRANT SELECT, UPDATE ON documents TO ${member};
  GRANT USAGE ON SCHEMA platform TO ${member}; GRANT SELECT (id) ON platform.platform_users TO ${member};
  CREATE FUNCTION who() RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_user || ' ' || (${claims} ->> 'sub') $$;
  CREATE FUNCTION titles() RETURNS SETOF text LANGUAGE sql STABLE AS $$ SELECT title FROM documents $$;
  CREATE FUNCTION counted() RETURNS TABLE (acting text, documents int) LANGUAGE sql STABLE
    AS $$ SELECT current_user::text, count(*)::int FROM documents $$;
  CREATE FUNCTION found() RETURNS SETOF documents LANGUAGE sql STABLE AS $$ SELECT * FROM documents $$;
  CREATE FUNCTION act() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT current_user || ' ' || (${claims} ->> 'sub') $$;
  CREATE FUNCTION rename_all() RETURNS SETOF documents LANGUAGE sql VOLATILE
    AS $$ UPDATE documents SET title = title || '!' RETURNING * $$;
  CREATE FUNCTION counted_in(source text) RETURNS bigint LANGUAGE plpgsql STABLE
    AS $$ DECLARE found bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || source INTO found; RETURN found; END $$;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${anon}, ${member}, ${admin};`;

const names = ['who', 'titles', 'counted', 'found', 'act', 'rename_all', 'counted_in'];

const config = ({ anon, member, admin }: DatabaseRoles): string => `{
  database: { rowSecurity: {
    claims: 'request.jwt.claims', roles: { public: '${anon}', member: '${member}', admin: '${admin}' },
  } },
  functions: { ${names.map((name) => `'public.${name}': {}`).join(', ')} },
}`;

const permissions = `
roles: { member: {} }
permissions: { member: { documents: { read: true } } }
functions: { member: { ${names.map((name) => `${name}: true`).join(', ')} } }
`;

let project: SecuredProject;
let users: TokenUser[];
let member: string;
beforeAll(async () => {
  project = await serveSecured({
    sql: (roles) => {
      member = roles.member;
      return sql(roles);
    },
    config,
    permissions,
  });
  users = await project.addUsers(2);
  const owners = users.map(({ id }) => id);
  await project.rows(
    `INSERT INTO documents SELECT place, id, 'of ' || place FROM unnest($1::uuid[]) WITH ORDINALITY AS u(id, place)`,
    [owners],
  );
});
afterAll(() => project?.close());

const user = (position: number): TokenUser => users[position] ?? { id: '', token: '' };

function ask(position: number, path: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { method: 'POST', body };
  return project.ask(path, { ...sent, token: user(position).token } as Parameters<SecuredProject['ask']>[1]);
}

async function graphql(position: number, query: string): Promise<unknown> {
  return (await ask(position, '/graphql', { query })).json.data;
}

it.each([0, 1])('caller %i is known to functions over REST', async (at) => {
  const place = at + 1;
  const acting = `${member} ${user(at).id}`;
  const data = async (path: string, body?: unknown): Promise<unknown> => (await ask(at, path, body)).json.data;
  expect(await data('/functions/who')).toBe(acting);
  expect(await data('/functions/titles')).toEqual([`of ${place}`]);
  expect(await data('/functions/counted')).toEqual([{ acting: member, documents: 1 }]);
  expect(await data('/functions/found?fields=id')).toEqual([{ id: place }]);
  expect(await data('/functions/act', {})).toBe(acting);
});

it.each([0, 1])('caller %i is known to functions over GraphQL', async (at) => {
  const place = at + 1;
  const acting = `${member} ${user(at).id}`;
  expect(await graphql(at, '{ who titles counted { acting documents } found { title } }')).toEqual({
    who: acting,
    titles: [`of ${place}`],
    counted: [{ acting: member, documents: 1 }],
    found: [{ title: `of ${place}` }],
  });
  expect(await graphql(at, 'mutation { act rename_all { title } }')).toEqual({
    act: acting,
    rename_all: [{ title: `of ${place}!` }],
  });
});

it('a function whose own SQL is no SQL with these arguments fails for its caller', async () => {
  const { status, json } = await ask(0, '/functions/counted_in?source=documents');
  expect([status, json.data]).toEqual([200, '1']);
  const { status: refused, text } = await ask(0, '/functions/counted_in?source=documents%20WHERE');
  expect(refused).toBe(422);
  expect(JSON.parse(text).errors).toEqual([
    { message: 'The function fails with these arguments.', extensions: { code: 'UNPROCESSABLE_ENTITY' } },
  ]);
});
