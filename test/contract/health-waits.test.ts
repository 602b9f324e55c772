/** Requests that wait for connections: administrators see a warning in the health of the server, other callers see none. */

import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { adminToken } from '../support/platform.ts';
import { askWithoutReading } from '../support/unread.ts';

let project: AccountsProject;
let memberToken: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  project = await serveAccounts({
    sql: `CREATE VIEW plenty AS SELECT g AS id, repeat('x', 1000) AS text FROM generate_series(1, 100000) g`,
    permissions: 'roles: { member: {} }\npermissions: { member: { plenty: { read: true } } }',
    environment: { DATABASE_STREAM_MAX: '1', STREAM_STALL_TIMEOUT: '60s' },
    processes: 1,
  });
  const user = await project.addUser(await project.addRole('member'));
  memberToken = (await project.signIn(user)).access_token;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await project?.close();
});

it('warns administrators only while the only stream keeps another one waiting', async () => {
  const { server } = project;
  expect((await server.admin('/server/health')).json).toMatchObject({
    status: 'ok',
    checks: { connections: { status: 'ok' } },
  });
  // A request that comes later must not take the place of this one.
  sockets.push(await askWithoutReading(server.url, '/items/plenty?limit=-1', { token: adminToken }));
  // The second is refused when it has waited for DATABASE_POOL_TIMEOUT.
  const refused = server.admin('/items/plenty?limit=-1');
  const output = [expect.stringMatching(/^\d+ streamed answers wait while 1 of at most 1 are under way; .* \d+ ms\.$/)];
  const connections = { status: 'warn', output };
  await expect
    .poll(async () => (await server.admin('/server/health')).json, { timeout: 20_000 })
    .toMatchObject({ status: 'warn', checks: { database: { status: 'ok' }, connections } });
  expect((await refused).status).toBe(503);
  const ready = await server.admin('/server/ready');
  expect([ready.status, ready.json]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
  expect(ready.json.checks.connections).toMatchObject(connections);
  for (const options of [{}, { token: memberToken }]) {
    for (const path of ['/server/health', '/server/ready']) {
      const answer = await server.ask(path, options);
      expect([path, answer.status, answer.json]).toEqual([path, 200, { status: 'ok' }]);
    }
  }
});
