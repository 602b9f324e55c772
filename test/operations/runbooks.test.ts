/** Every command of docs/runbooks, run as it is written, and what it leads to: on PostgreSQL and on MariaDB. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlDatabase, startMariadb, withMysql } from '../support/mariadb.ts';
import { administrator } from '../support/platform.ts';
import { createDatabaseOn, type PostgresServer, startSystemPostgres, withClient } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import { missingTools, type RunbookMachine, startMachine } from '../support/runbooks.ts';

const articles =
  "CREATE TABLE articles (id integer PRIMARY KEY, title varchar(99)); INSERT INTO articles VALUES (1, 'Tea')";

const databases = (['PostgreSQL', 'MariaDB'] as const).map((name) => ({ name, missing: missingTools(name) }));

describe.each(databases)('$name', ({ name, missing }) => {
  if (missing !== null) return void it.skip(`skipped: ${missing}`);
  const isMariadb = name === 'MariaDB';

  let postgres: PostgresServer | undefined;
  let serverUrl: string;
  let url: string;
  let machine: RunbookMachine;
  /** Static token of the administrator. */
  let token: string;

  beforeAll(async () => {
    if (isMariadb) {
      ({ url: serverUrl } = await startMariadb());
      url = await createMysqlDatabase(await startMariadb(), articles);
    } else {
      postgres = await startSystemPostgres();
      ({ url: serverUrl } = postgres);
      ({ url } = await createDatabaseOn(serverUrl, articles));
    }
    machine = await startMachine(name, url);
    token = await tokenOf(administrator.email);
    await machine.run(
      `echo '${passwords.eve}' | npx platform users create eve@example.com --role editor --password-stdin`,
    );
    await machine.run('npx platform users create bot@example.com --role editor');
  });
  afterAll(async () => {
    await machine?.close();
    if (isMariadb) await withMysql(serverUrl, (client) => client.query('DROP DATABASE IF EXISTS restored'));
    await postgres?.stop();
  });

  const tokenOf = async (email: string): Promise<string> => {
    const [, made = ''] = /"token":"([^"]*)"/.exec(await machine.run(`npx platform users token ${email} --json`)) ?? [];
    return made;
  };
  const passwords = { eve: 'eve has a long password' };
  const system = (table: string): string => (isMariadb ? table : `platform.${table}`);
  const sql = async (text: string): Promise<void> => {
    if (isMariadb) await withMysql(url, (client) => client.query(text));
    else await withClient(url, (client) => client.query(text));
  };
  const status = async (path: string, bearer: string): Promise<number> =>
    (await machine.ask(path, { token: bearer })).status;
  const refresh = async (refreshToken: string): Promise<number> => {
    const body = { refresh_token: refreshToken };
    return (await machine.ask('/auth/refresh', { method: 'POST', body })).status;
  };

  it('lost-administrator: a suspended administrator comes back', async () => {
    await sql(`UPDATE ${system('platform_users')} SET status = 'suspended' WHERE email = '${administrator.email}'`);
    const printed = await machine.runPage('lost-administrator');
    expect(printed[0]).toContain('suspended');
    const [, password = ''] = /password of \S+ is changed.* It is (\S+), which/.exec(printed.join('\n')) ?? [];
    await machine.signIn(administrator.email, password);
    await machine.run(
      `echo '${administrator.password}' | npx platform users passwd admin@example.com --password-stdin`,
    );
    await machine.signIn(administrator.email, administrator.password);
    expect(await status('/users/me', token)).toBe(200);
  });

  it('leaked-token: no leaked token works, and activity tells what they did', async () => {
    const admin = randomBytes(24).toString('hex');
    appendFileSync(join(machine.folder, 'machine/etc/tablewright/environment'), `ADMIN_TOKEN=${admin}\n`);
    await machine.run('systemctl restart tablewright');
    const bot = await tokenOf('bot@example.com');
    const eve = await machine.signIn('eve@example.com', passwords.eve);
    const body = { id: 2, title: 'By a thief' };
    expect((await machine.ask('/items/articles', { method: 'POST', token: bot, body })).status).toBe(200);
    expect(await status('/users', admin)).toBe(200);
    const printed = await machine.runPage('leaked-token', { variables: { TOKEN: token } });
    expect([await status('/users', admin), await status('/users/me', bot)]).toEqual([401, 401]);
    expect([await status('/users/me', eve.access_token), await refresh(eve.refresh_token)]).toEqual([401, 401]);
    const [next = ''] = /^[\w-]{43}$/m.exec(printed[0] ?? '') ?? [];
    expect(await status('/users/me', next)).toBe(200);
    expect(printed[3]).toContain('"action":"create","collection":"articles","item":"2"');
    expect(printed[4]).toContain('"event":"admin-token-used"');
    await machine.run(`echo '${passwords.eve}' | npx platform users passwd eve@example.com --password-stdin`);
  });

  it('rotate-secret: sessions go on; nothing of a leaked secret is valid', async () => {
    const before = await machine.signIn('eve@example.com', passwords.eve);
    await machine.runPage('rotate-secret', { to: 1 });
    expect(await status('/users/me', before.access_token)).toBe(200);
    const between = await machine.signIn('eve@example.com', passwords.eve);
    await machine.runPage('rotate-secret', { from: 1, to: 2 });
    expect(await status('/users/me', before.access_token)).not.toBe(200);
    expect(await status('/users/me', between.access_token)).toBe(200);
    await machine.runPage('rotate-secret', { from: 2 });
    expect(await status('/users/me', between.access_token)).not.toBe(200);
    expect(await refresh(between.refresh_token)).toBe(200);
  });

  it('erase-a-person: no table of the platform names the person', async () => {
    const { access_token: eve } = await machine.signIn('eve@example.com', passwords.eve);
    const as = { method: 'POST', token: eve };
    const comment = { collection: 'articles', item: '1', comment: 'Eve was here.' };
    expect((await machine.ask('/comments', { ...as, body: comment })).status).toBe(200);
    const { json } = await machine.ask('/users/me?fields=id', { token });
    const named = { method: 'PATCH', token, body: { first_name: 'Evelyn' } };
    expect((await machine.ask(`/users/${json.data.id}`, named)).status).toBe(200);
    const people = await machine.ask('/users?filter[email][_eq]=eve@example.com&fields=id', { token });
    const [{ id: key }] = people.json.data;
    expect((await machine.ask(`/users/${key}`, named)).status).toBe(200);
    const dump = isMariadb
      ? `mariadb-dump --no-create-info "$\{DATABASE_URL##*/}"`
      : 'pg_dump --data-only --schema=platform "$DATABASE_URL"';
    expect(await machine.run(`${dump} | grep -ci 'eve@example\\|Evelyn\\|Eve was here'`)).not.toBe('0');
    await machine.runPage('erase-a-person', { variables: { TOKEN: token } });
    expect(await machine.run(`${dump} | grep -i 'eve@example\\|Eve was here' || true`)).toBe('');
    expect(await machine.run(`${dump} | grep -c '${key}'`)).toBe('1');
  });

  it('slow-server: what is slow is named', async () => {
    const printed = await machine.runPage('slow-server');
    expect(printed[0]).toContain('pong');
    expect(printed[1]).toMatch(/nodejs_eventloop_lag_p99_seconds [\d.]+/);
    expect(printed[3]).toMatch(/articles/);
  });

  it('disk-full: old activity goes with its revisions', async () => {
    const old = isMariadb ? 'NOW() - INTERVAL 2 YEAR' : "now() - interval '2 years'";
    const column = isMariadb ? 'timestamp' : '"timestamp"';
    await sql(`UPDATE ${system('platform_activity')} SET ${column} = ${old} WHERE collection = 'articles'`);
    const revisions = async () =>
      (await machine.ask('/revisions?limit=0&meta=total_count', { token })).json.meta.total_count;
    const before = await revisions();
    const printed = await machine.runPage('disk-full', { variables: { TOKEN: token } });
    expect(printed.join('\n')).toContain('platform_revisions');
    expect(await revisions()).toBe(before - 1);
  });

  it('pool-exhausted: the session that all others wait for is found and ended', async () => {
    const hold = async (query: (text: string) => Promise<unknown>): Promise<void> => {
      await query('BEGIN');
      await query('SELECT id FROM articles WHERE id = 1 FOR UPDATE');
      const writes = [1, 2, 3].map(() => {
        const body = { title: 'Green tea' };
        return machine.ask('/items/articles/1', { method: 'PATCH', token, body });
      });
      await expect.poll(async () => (await fetch(machine.metricsUrl)).text()).toMatch(/state="used"\} [1-9]/);
      const printed = await machine.runPage('pool-exhausted');
      expect(printed[1]).toMatch(isMariadb ? /Sleep/ : /idle in transaction/);
      expect((await Promise.all(writes)).map((answer) => answer.status)).toEqual([200, 200, 200]);
      await expect(query('SELECT 1')).rejects.toThrow();
    };
    if (isMariadb) {
      const held = withMysql(url, (client) => hold((text) => client.query(text)));
      await held.catch((error: Error) => expect(error.message).toMatch(/closed/i));
    } else {
      await withClient(url, (client) => {
        client.on('error', () => undefined);
        return hold((text) => client.query(text));
      });
    }
  });

  it('one-step-back: the commit before is served', async () => {
    const path = join(machine.folder, 'permissions.yaml');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('articles: { read: true }', 'articles: { read: { fields: [id] } }'),
    );
    await machine.run(
      'npx platform generate; git add .; git commit --quiet --message worse; systemctl restart tablewright',
    );
    expect((await machine.ask('/items/articles/1?fields=title')).status).toBe(403);
    await machine.runPage('one-step-back');
    expect((await machine.ask('/items/articles/1?fields=title')).status).toBe(200);
  });

  it('upgrade-without-a-gap: a new column is served, and no request fails meanwhile', async () => {
    const path = join(machine.folder, 'machine/etc/systemd/system/tablewright.service');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^(ExecStart=.*)$/m, '$1 --workers 2'));
    await machine.run('systemctl restart tablewright');
    const failed: unknown[] = [];
    let asked = 0;
    let isDone = false;
    const ask = async (): Promise<void> => {
      while (!isDone) {
        asked += 1;
        const answer = await machine.ask('/items/articles/1?fields=title').catch((error: unknown) => error);
        if (!(answer instanceof Object && 'status' in answer && answer.status === 200)) failed.push(answer);
        await sleep(5);
      }
    };
    const clients = [ask(), ask(), ask()];
    await machine.runPage('upgrade-without-a-gap');
    await expect.poll(async () => (await machine.ask('/items/articles/1?fields=summary')).status).toBe(200);
    isDone = true;
    await Promise.all(clients);
    expect(failed).toEqual([]);
    expect(asked).toBeGreaterThan(50);
  });

  it('database-fails-over: the server goes on with the new primary', async () => {
    const old = await startRelay(url);
    writeFileSync(join(machine.folder, 'machine/etc/tablewright/database_url'), old.url);
    await machine.run('systemctl restart tablewright');
    expect((await machine.ask('/items/articles/1')).status).toBe(200);
    await old.close();
    await expect.poll(async () => (await machine.ask('/server/ready')).status).toBe(503);
    // Clients of the machine still lead to the old primary, as its settings say.
    const settings = join(machine.folder, 'machine/home/.my.cnf');
    const text = readFileSync(settings, 'utf8');
    writeFileSync(settings, text.replace(/^port=.*$/m, `port=${new URL(old.url).port}`));
    const printed = await machine.runPage('database-fails-over', { variables: { PRIMARY: url } });
    writeFileSync(settings, text);
    expect(printed[1]).toContain('primary');
    expect((await machine.ask('/items/articles/1')).status).toBe(200);
  });

  it('back-up-and-restore: a signed-in user reads what was there before', async () => {
    const form = new FormData();
    form.append('file', new Blob(['kept'], { type: 'text/plain' }), 'kept.txt');
    const { json } = await machine.ask('/files?fields=id', { method: 'POST', token, body: form });
    const before = await machine.signIn(administrator.email, administrator.password);
    const read = async (bearer: string) => {
      const paths = ['/items/articles?sort=id', `/assets/${json.data.id}`, '/users/me?fields=email,role.name'];
      return Promise.all(paths.map(async (path) => (await machine.ask(path, { token: bearer })).text));
    };
    const there = await read(before.access_token);
    expect(there[1]).toBe('kept');
    await machine.runPage('back-up-and-restore', { to: 2 });
    await sql(`DELETE FROM articles; DELETE FROM ${system('platform_files')}`);
    await machine.run('rm -r /var/lib/tablewright/uploads/*');
    await machine.runPage('back-up-and-restore', { from: 2 });
    const after = await machine.signIn(administrator.email, administrator.password);
    expect(await read(after.access_token)).toEqual(there);
    expect(await read(before.access_token)).toEqual(there);
  });
});
