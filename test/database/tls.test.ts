import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';
import { collect, eventually, statement } from './statements.ts';

/** A self-signed certificate with its key, or undefined where there is no openssl to make one. */
function makeCertificate(): { readonly key: string; readonly certificate: string } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'platform-tls-'));
  const key = join(directory, 'server.key');
  const certificate = join(directory, 'server.crt');
  const subject = ['-subj', '/CN=localhost', '-days', '2'];
  try {
    const files = ['-keyout', key, '-out', certificate];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key, 'base64'), certificate: readFileSync(certificate, 'base64') };
  } catch {
    return undefined;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const made = makeCertificate();

describe.skipIf(made === undefined).each(['fast', 'pg'] as const)('the %s lane over TLS', (driver) => {
  let place: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    place = await createDatabase(
      'CREATE TABLE big AS SELECT i, repeat(md5(i::text), 30) AS body FROM generate_series(1, 50000) i',
    );
    await withClient(place.url, async (client) => {
      const store = (text: string, file: string): Promise<unknown> =>
        client.query(`COPY (SELECT '${text}') TO PROGRAM 'umask 077; base64 -d > ${file}'`);
      await store(made?.key ?? '', 'server.key');
      await store(made?.certificate ?? '', 'server.crt');
      await client.query('ALTER SYSTEM SET ssl = on');
      await client.query('SELECT pg_reload_conf()');
    });
    const url = `${place.url}?sslmode=no-verify`;
    const connected = await eventually(async () => {
      // Beside other work handshakes may take longer than reads usually wait for a connection.
      database = await connectPostgres({ url, driver, applicationName: 'tls_test', poolTimeoutMs: 20_000 });
      return true;
    });
    expect(connected).toBe(true);
  });
  afterAll(async () => {
    await database?.close(0);
    await withClient(place.url, (client) => client.query('ALTER SYSTEM RESET ssl'));
    await withClient(place.url, (client) => client.query('SELECT pg_reload_conf()'));
    await place.drop();
  });

  test('reads, large values and streams arrive whole', async () => {
    const [[ssl] = []] = await database.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()', []);
    expect(ssl).toBe('t');
    const sizes = Array.from({ length: 200 }, (_, i) => i * 137);
    const answers = await Promise.all(
      sizes.map(async (size) => {
        const sink = collect();
        await database.read(statement(`SELECT repeat('x', $1::int)`), [String(size)], sink);
        return sink.rows[0]?.length;
      }),
    );
    expect(answers).toEqual(sizes);
    let rows = 0;
    const sink = { row: (): void => void rows++ };
    await database.stream(statement('SELECT * FROM big'), [], sink, async () => {}, new AbortController().signal);
    expect(rows).toBe(50_000);
  });

  test('the commands trust who is named, and say what is amiss otherwise', { timeout: 60_000 }, async () => {
    const project = await createProject();
    const authority = join(project.folder, 'ca.pem');
    writeFileSync(authority, Buffer.from(made?.certificate ?? '', 'base64'));
    const introspect = (host: string, parameters: string) => {
      const { href } = Object.assign(new URL(place.url), { hostname: host });
      return runPlatform(['introspect', '--project', project.folder], { DATABASE_URL: `${href}?${parameters}` });
    };
    const [trusted, unknown, elsewhere] = await Promise.all([
      introspect('localhost', `sslmode=require&sslrootcert=${authority}`),
      introspect('localhost', 'sslmode=require'),
      introspect('127.0.0.1', `sslmode=verify-full&sslrootcert=${authority}`),
    ]);
    await project.remove();
    expect([trusted.code, unknown.code, elsewhere.code]).toEqual([0, 3, 3]);
    expect(unknown.stderr).toContain('cannot be used: this machine does not trust the authority of its certificate.');
    expect(elsewhere.stderr).toContain('cannot be used: its certificate is for another host.');
    // `pg` warns of later versions of itself wherever the mode is not `verify-full`.
    expect(trusted.stderr + unknown.stderr).not.toContain('Warning');
  });

  test('an abandoned statement is cancelled', async () => {
    const abort = new AbortController();
    const stream = database.stream(statement('SELECT pg_sleep(20)'), [], collect(), async () => {}, abort.signal);
    setTimeout(() => abort.abort(), 150);
    await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const sql = `SELECT FROM pg_stat_activity WHERE application_name = 'tls_test' AND query LIKE '%pg_sleep%' AND state = 'active'`;
    const ended = await eventually(async () => {
      const { rows } = await withClient(place.url, (client) => client.query(sql));
      return rows.length === 0;
    });
    expect(ended).toBe(true);
  });
});
