import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Range below the ports that systems give to connections and to servers that want any: those may come before the user. */
const [first, end] = [11_000, 32_000];

const given = new Set<number>();

/** A port of the loopback that nothing listens on, and that the system gives to nothing else meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
