/** Encrypted connections to MySQL: to whom the driver of servers, and the commands, show a password. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-certificates-'));
  openssl('req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -keyout ca.key -out ca.pem');
  for (const host of ['localhost', 'elsewhere.example']) {
    openssl(`req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${host} -addext subjectAltName=DNS:${host}
      -CA ca.pem -CAkey ca.key -keyout ${host}.key -out ${host}.pem`);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function openssl(command: string): void {
  execFileSync('openssl', command.split(/\s+/), { cwd: folder, stdio: 'ignore' });
}

/** The first packet of a server that offers encryption. */
function greeting(): Buffer {
  const low = 0x8a09;
  const high = 0x0008;
  const payload = Buffer.concat([
    Buffer.from('\x0a8.0.40\0', 'latin1'),
    ...[Buffer.from([1, 0, 0, 0]), Buffer.alloc(8, 'a'), Buffer.from([0, low & 255, low >> 8, 45, 2, 0])],
    ...[Buffer.from([high, 0, 21]), Buffer.alloc(10), Buffer.alloc(12, 'b'), Buffer.from('\0mysql_native_password\0')],
  ]);
  return Buffer.concat([Buffer.from([payload.length, 0, 0, 0]), payload]);
}

/** A server with the certificate of a host, and what it is told of a password. */
async function listenAs(
  host: string,
): Promise<{ readonly server: Server; readonly logins: ('plain' | 'encrypted')[] }> {
  const [key, cert] = await Promise.all(['key', 'pem'].map((end) => readFile(join(folder, `${host}.${end}`))));
  const secureContext = createSecureContext({ key, cert });
  const logins: ('plain' | 'encrypted')[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.write(greeting());
    const read = (): void => {
      // A request for encryption is a packet of 32 bytes.
      const head: Buffer | null = socket.read(36);
      if (head === null) return;
      socket.off('readable', read);
      if (head[0] !== 32) {
        logins.push('plain');
        socket.destroy();
        return;
      }
      const encrypted = new TLSSocket(socket, { isServer: true, secureContext });
      encrypted.on('error', () => {});
      encrypted.once('data', () => {
        logins.push('encrypted');
        encrypted.destroy();
      });
    };
    socket.on('readable', read);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, logins };
}

const cases = [
  ['localhost', '', ['plain']],
  ['localhost', 'required', ['encrypted']],
  ['localhost', 'verify_ca', ['encrypted']],
  ['localhost', 'verify-identity', ['encrypted']],
  ['elsewhere.example', 'required', ['encrypted']],
  ['elsewhere.example', 'verify_ca', ['encrypted']],
  ['elsewhere.example', 'verify-identity', []],
] as const;

it.each(cases)('a certificate of %s with ssl-mode %j', async (host, mode, expected) => {
  const { server, logins } = await listenAs(host);
  const project = await createProject();
  const usual = getCACertificates();
  try {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const url = `mysql://shop:secret@localhost:${port}/shop${mode === '' ? '' : `?ssl-mode=${mode}`}`;
    setDefaultCACertificates([...usual, await readFile(join(folder, 'ca.pem'), 'utf8')]);
    await expect(connectMysql({ url })).rejects.toThrow();
    expect(logins).toEqual(expected);
    const variables = { DATABASE_URL: url, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
    expect((await runPlatform(['introspect', '--project', project.folder], variables)).code).toBe(3);
    expect(logins).toEqual([...expected, ...expected]);
  } finally {
    setDefaultCACertificates(usual);
    server.close();
    await project.remove();
  }
});

it.each(['verify_ca', 'verify_identity'])('a certificate of nobody who is trusted with %s', async (mode) => {
  const { server, logins } = await listenAs('localhost');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await expect(connectMysql({ url: `mysql://a:b@localhost:${port}/c?ssl-mode=${mode}` })).rejects.toThrow();
  server.close();
  expect(logins).toEqual([]);
});
