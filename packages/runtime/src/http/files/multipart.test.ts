/** Bodies whose senders have hung up before anybody reads them. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readMultipart } from './multipart.ts';

const body = `--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${'x'.repeat(1_000)}\r\n--a--\r\n`;

it.each([
  ['a part of it', body.length + 1],
  ['all of it', body.length],
])('are refused where they have sent %s', async (_, length) => {
  const server = createServer();
  const folder = await mkdtemp(join(tmpdir(), 'platform-multipart-'));
  const left = new Promise<IncomingMessage>((resolve) => {
    server.on('request', (request) => request.on('close', () => resolve(request)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') return expect.unreachable();
  const headers = { 'content-type': 'multipart/form-data; boundary=a', 'content-length': length };
  const sent = ask({ port: address.port, method: 'POST', headers });
  sent.on('error', () => undefined);
  sent.write(body, () => setTimeout(() => sent.destroy(), 20));
  await expect(readMultipart(await left, { folder, fileSize: 10_000, fieldSize: 100, files: 1 })).rejects.toMatchObject(
    {
      code: 'INVALID_PAYLOAD',
    },
  );
  expect(await readdir(folder)).toEqual([]);
  server.close();
  await rm(folder, { recursive: true });
});
