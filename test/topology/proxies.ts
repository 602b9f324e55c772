/** haproxy, nginx and Varnish of Debian in front of servers, in a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';

const programs = {
  haproxy: '/usr/sbin/haproxy',
  nginx: '/usr/sbin/nginx',
  varnish: '/usr/sbin/varnishd',
  'varnish-modules': '/usr/lib/x86_64-linux-gnu/varnish/vmods/libvmod_xkey.so',
  'redis-server': '/usr/bin/redis-server',
};
const absent = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));

/** Why there can be none here; null where there can. */
export const proxiesMissing: string | null = absent.length === 0 ? null : `${absent.join(', ')} not installed`;

const nobody = 65534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Proxies in front of the same servers. */
export interface Proxies {
  readonly haproxy: string;
  readonly nginx: string;
  readonly varnish: string;
  stop(): Promise<void>;
}

/** Ports for proxies, known before servers are told where to purge. */
export interface ProxyPorts {
  readonly haproxy: number;
  readonly nginx: number;
  readonly varnish: number;
}

/** Finds free ones. */
export async function freeProxyPorts(): Promise<ProxyPorts> {
  const [haproxy, nginx, varnish] = await Promise.all([freePort(), freePort(), freePort()]);
  return { haproxy, nginx, varnish };
}

/** Starts them; Varnish runs the configuration that the documentation recommends. */
export async function startProxies(folder: string, ports: ProxyPorts, servers: readonly number[]): Promise<Proxies> {
  chmodSync(folder, 0o755);
  const processes: ChildProcess[] = [];
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  for (const name of ['nginx', 'varnish']) {
    mkdirSync(join(folder, name), { mode: 0o755 });
    if ('uid' in identity) chownSync(join(folder, name), nobody, nobody);
  }
  const begin = (path: string, args: readonly string[]): void => {
    processes.push(spawn(path, args, { ...identity, cwd: folder, stdio: 'ignore' }));
  };
  begin(programs.haproxy, ['-db', '-q', '-f', write('haproxy.cfg', haproxyFile(ports.haproxy, servers))]);
  begin(programs.nginx, ['-c', write('nginx.conf', nginxFile(join(folder, 'nginx'), ports.nginx, servers))]);
  const vcl = readFileSync(new URL('../../templates/deploy/varnish.vcl', import.meta.url), 'utf8');
  const path = write('varnish.vcl', vcl.replace('"8055"', `"${ports.haproxy}"`));
  const listen = ['-a', `127.0.0.1:${ports.varnish}`, '-n', join(folder, 'varnish'), '-s', 'malloc,64m'];
  begin(programs.varnish, ['-F', '-j', 'none', ...listen, '-f', path]);
  await Promise.all(Object.values(ports).map(listens));
  const [haproxy = '', nginx = '', varnish = ''] = [ports.haproxy, ports.nginx, ports.varnish].map(
    (port) => `http://127.0.0.1:${port}`,
  );
  return {
    ...{ haproxy, nginx, varnish },
    async stop() {
      await Promise.all(processes.map(end));
    },
  };
}

async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, 'exit');
  process.kill('SIGTERM');
  const killing = setTimeout(() => process.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(killing);
}

async function listens(port: number): Promise<void> {
  for (const start = performance.now(); performance.now() - start < 20_000; await sleep(20)) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isThere) return;
  }
  throw new Error(`Nothing listens on port ${port}.`);
}

/** A server that is about to stop is asked five times a second if it is ready, and gets nothing more. */
function haproxyFile(port: number, servers: readonly number[]): string {
  return `defaults
  mode http
  timeout connect 5s
  timeout check 5s
  timeout client 30s
  timeout server 30s
  option forwardfor
  option redispatch
  retries 3
listen servers
  bind 127.0.0.1:${port}
  option httpchk GET /server/ready
  http-check expect status 200
  default-server check inter 200ms fall 1 rise 1
${servers.map((own) => `  server s${own} 127.0.0.1:${own}`).join('\n')}
`;
}

function nginxFile(folder: string, port: number, servers: readonly number[]): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off;
pid ${folder}/pid;
error_log /dev/null;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  ${paths.join('\n  ')}
  upstream servers {
    ${servers.map((own) => `server 127.0.0.1:${own} max_fails=1 fail_timeout=1s;`).join('\n    ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
}
`;
}
