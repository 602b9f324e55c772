/** Serves a registry, prints its port, and ends with its standard input: it does not outlive the test that started it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { runServer } from 'verdaccio';

const [config = ''] = process.argv.slice(2);
const server = await runServer(config);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address: AddressInfo | string | null = server.address();
if (address === null || typeof address === 'string') throw new Error('The registry listens on no port.');
console.log(address.port);
process.stdin.on('end', () => process.exit(0)).resume();
