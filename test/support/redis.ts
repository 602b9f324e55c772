/** A Redis server of a test's own, where the machine has one: `apt-get install redis-server`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** A running server. */
export interface RedisServer {
  readonly url: string;
  /** Stops it in the middle of whatever it does, connections open, until it is thawed. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** How often it has been asked for a command so far: `eval`, `publish`. */
  calls(command: string): Promise<number>;
}

const missing = spawnSync('redis-server', ['--version']).error !== undefined;

/** What to write behind the name of a test that has to be skipped; empty where there is a server. */
export const withoutRedis = missing ? ' (skipped: redis-server is not installed)' : '';

/** It ends when its standard input does, so that none outlives its run. */
const script = 'redis-server "$@" >/dev/null & echo $!; read -r _; kill -CONT $!; kill $!; wait $!';

/** Starts one that keeps nothing, on a free port unless one is given. */
export async function startRedis(port?: number): Promise<RedisServer> {
  const own = port ?? (await freePort());
  const options = ['--port', String(own), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('sh', ['-c', script, 'sh', ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(server, 'exit');
  const [pid] = await once(createInterface({ input: server.stdout }), 'line');
  while (!(await answers(own))) await sleep(20);
  return {
    url: `redis://127.0.0.1:${own}`,
    freeze: () => process.kill(Number(pid), 'SIGSTOP'),
    thaw: () => process.kill(Number(pid), 'SIGCONT'),
    async stop() {
      server.stdin.end();
      await exited;
    },
    async calls(command) {
      const [, calls = '0'] = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await statistics(own)) ?? [];
      return Number(calls);
    },
  };
}

/** What it tells of its commands. */
async function statistics(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // A command of its own ends the answer.
  socket.write('INFO commandstats\r\nQUIT\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', done(true)).once('error', done(false));
  });
}
