/**
 * Deployment of a project: its image without a container engine (the Dockerfile's own commands, then its server as an
 * ordinary user on read-only files), and the commands of docs/deployment.md with podman and with systemd.
 */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readText } from '../architecture/files.ts';
import { blocksOf } from '../support/examples.ts';
import { freePort } from '../support/free-port.ts';
import { createDatabaseOn, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type Booted, boot, bootProblem } from './booted.ts';
import { buildImage, canConfine, confined, type Image } from './dockerfile.ts';
import { composeByPodman, type Engine, engineProblem, startEngine } from './engine.ts';
import { compile, install, type Project, runIn, use } from './journey.ts';
import { isRoot, type Machine, startMachine } from './machine.ts';
import { npm } from './managers.ts';

const minutes = 60_000;
const password = 'a password of a stranger';
let machine: Machine;
let postgres: PostgresServer;
let project: Project;
let image: Image;
let engine: Engine | undefined;
let booted: Booted | undefined;

beforeAll(async () => {
  [machine, postgres] = await Promise.all([startMachine(), startPostgres()]);
  project = await install(machine, npm, 'shop');
  await compile(project);
}, 6 * minutes);
afterAll(async () => {
  await booted?.close();
  await engine?.close();
  await postgres?.stop();
  await machine?.close();
}, 4 * minutes);

test('init lays the files down, and nothing over what is there', { timeout: minutes }, async () => {
  const [commands = ''] = blocksOf(readText('docs/deployment.md'), 'sh');
  await machine.succeed(project.folder, ['bash', '-eu', '-c', commands]);
  expect(readdirSync(project.folder)).toEqual(expect.arrayContaining(['Dockerfile', '.dockerignore', 'compose.yaml']));
  expect(statSync(join(project.folder, 'secrets')).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(project.folder, 'secrets/.gitignore'), 'utf8')).toBe('*\n');
  machine.write('shop/.dockerignore', '# mine\n');
  const again = await runIn(project, 'platform', 'init', '--yes', '--deploy', 'docker');
  expect(again).toContain('.dockerignore is there already');
  expect(readFileSync(join(project.folder, '.dockerignore'), 'utf8')).toBe('# mine\n');
  const wrong = await machine.run(project.folder, [...npm.run, 'platform', 'init', '--yes', '--deploy', 'ship']);
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('docker, systemd, or grafana, not "ship"') });
});

test('compose names every secret as a file, and gives the server no place to write but its volume', () => {
  const { services, secrets: files } = parse(readFileSync(join(project.folder, 'compose.yaml'), 'utf8'));
  const { server, database } = services;
  expect(server).toMatchObject({ read_only: true, cap_drop: ['ALL'], volumes: ['data:/data'], tmpfs: ['/tmp'] });
  for (const service of [server, database]) {
    const named = Object.entries<string>(service.environment).filter(([name]) => name.endsWith('_FILE'));
    expect(named.map(([, path]) => path.replace('/run/secrets/', '')).toSorted()).toEqual(service.secrets);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(service.secrets));
  }
});

test('the image holds what was generated and the runtime, and none of the tools', {
  timeout: 4 * minutes,
}, async () => {
  const { url } = postgres;
  const environment = { DATABASE_URL: url };
  for (const command of ['migrate', 'generate']) {
    await machine.succeed(project.folder, [...npm.run, 'platform', command], environment);
  }
  const path = join(project.folder, 'Dockerfile');
  // The project has an extension: the line that the file names for it.
  const text = readFileSync(path, 'utf8').replace(/^# .*: (COPY extensions .*)$/m, '$1');
  expect(text).toMatch(/^COPY extensions/m);
  writeFileSync(path, text);
  image = await buildImage(machine, project.folder);
  expect(image).toMatchObject({ user: '10001:10001', folder: '/data', variables: { NODE_ENV: 'production' } });
  expect(readdirSync(join(image.root, 'app')).toSorted()).toEqual([
    ...['extensions', 'generated', 'node_modules', 'package.json'],
  ]);
  const installed = readdirSync(join(image.root, 'app/node_modules/@tablewright'));
  // The client is a dependency of this project's own.
  expect(installed).toEqual(['client', 'runtime']);
  for (const name of ['tablewright', 'typescript', '@electric-sql']) {
    expect(existsSync(join(image.root, 'app/node_modules', name))).toBe(false);
  }
});

test('it serves on read-only files, is healthy, keeps uploads in its volume, and stops with 0', {
  timeout: 2 * minutes,
}, async () => {
  const app = join(image.root, 'app');
  const volume = join(image.root, image.folder);
  // Files of another user, that this one may read.
  if (isRoot) execFileSync('chown', ['-R', '0:0', app]);
  execFileSync('chmod', ['-R', 'a-w,a+rX', app]);
  chmodSync(image.root, 0o755);
  const variables = { ...image.variables, ...composed(), HOST: '127.0.0.1', PORT: String(await freePort()) };
  const url = `http://127.0.0.1:${variables.PORT}`;
  const within = (command: readonly string[]): readonly string[] =>
    command.map((word) => (word.startsWith('/app/') ? join(image.root, word) : word));
  const healthy = async (): Promise<number | null> =>
    (await machine.run(image.root, within(image.healthCheck), variables)).code;
  expect(await healthy()).toBe(1);
  const [uid = 0, gid = 0] = image.user.split(':').map(Number);
  const isConfined = canConfine();
  const [command, identity] = isConfined
    ? ([confined(image, volume, within(image.command)), {}] as const)
    : ([within(image.command), isRoot ? { uid, gid } : undefined] as const);
  const server = machine.start(volume, command, variables, identity);
  const output = printed(server);
  const ended = once(server, 'close');
  try {
    for (let tries = 0; (await healthy()) !== 0 && tries < 60; tries += 1) await sleep(250);
    expect(await healthy()).toBe(0);
    await use(url, 'from an image');
    await upload(url);
    const folder = join(volume, '.platform/uploads');
    const uploads = readdirSync(folder).filter((name) => !name.startsWith('.'));
    expect(uploads).toHaveLength(1);
    if (isRoot) expect(statSync(join(folder, uploads[0] ?? '')).uid).toBe(uid);
    if (isRoot) expect(readdirSync(join(volume, '.platform'))).toEqual(['uploads']);
  } finally {
    server.kill('SIGTERM');
  }
  expect((await ended)[0], output()).toBe(0);
  for (const text of Object.values(secrets())) expect(output()).not.toContain(text.trim());
  if (engineProblem() === null) return;
  const unchecked = ['the base image', 'limits of compose.yaml as an engine applies them'];
  if (!isRoot) unchecked.push('the user 10001');
  if (!isConfined) unchecked.push('a read-only root outside of /app');
  console.log(`Not checked, for want of a container engine: ${unchecked.join(', ')}.`);
});

test('nothing but the volume and temporary files can be written', { timeout: minutes }, async ({ skip }) => {
  skip(!canConfine(), 'only root can make a read-only file system for a process');
  const script = `! touch "$0/app/new" && ! touch /new && touch "$0/data/new" "$TMPDIR/new" && rm "$0/data/new" && id -u`;
  const command = confined(image, join(image.root, 'data'), ['sh', '-euc', script, image.root]);
  const { code, output } = await machine.run(image.root, command, {}, {});
  expect([code, output]).toEqual([0, expect.stringMatching(/^(?:touch: .*Read-only file system\n){2}10001\n$/)]);
});

test('a secret that is missing ends the start with 4 and the name of its variable', { timeout: minutes }, async () => {
  const variables = { ...image.variables, ...composed(), SECRET_FILE: '/run/secrets/gone' };
  const main = join(image.root, 'app/generated/main.js');
  const { code, output } = await machine.run(join(image.root, 'data'), ['node', main], variables);
  expect([code, output]).toEqual([4, 'SECRET_FILE names a file that does not exist.\n']);
});

test('podman: the commands of the page build the image and serve it', { timeout: 4 * minutes }, async ({ skip }) => {
  const problem = engineProblem();
  skip(problem !== null, problem ?? '');
  const podman = await startEngine(machine);
  engine = podman;
  const [server, database] = [await freePort(), await freePort()];
  const atPorts = (text: string): string =>
    text.replaceAll('127.0.0.1:8055', `127.0.0.1:${server}`).replaceAll('127.0.0.1:5432', `127.0.0.1:${database}`);
  machine.write('shop/compose.yaml', atPorts(readFileSync(join(project.folder, 'compose.yaml'), 'utf8')));
  machine.write('shop/secrets/admin_password', password);
  await podman.succeed(project.folder, ['chmod', '644', 'secrets/admin_password']);
  const [, commands = ''] = blocksOf(readText('docs/deployment.md'), 'sh');
  const printed = await podman.succeed(project.folder, ['bash', '-euc', `${composeByPodman}\n${atPorts(commands)}`]);
  expect(printed.trimEnd()).toMatch(/\{"status":"ok"\}$/);
  const url = `http://127.0.0.1:${server}`;
  await use(url, 'from a container');
  const file = await upload(url);
  const inside = (...command: string[]) => podman.run('/', ['podman', 'exec', 'shop_server_1', ...command]);
  expect((await inside('cat', '/proc/1/status')).output).toMatch(/Uid:\t10001\t.*CapEff:\t0+\n.*NoNewPrivs:\t1\n/s);
  expect(await inside('touch', '/app/new')).toMatchObject({ code: 1, output: expect.stringContaining('Read-only') });
  expect(await inside('touch', '/new')).toMatchObject({ code: 1, output: expect.stringContaining('Read-only') });
  expect((await inside('touch', '/tmp/new')).code).toBe(0);
  await podman.succeed('/', ['podman', 'stop', 'shop_server_1']);
  const state = ['podman', 'inspect', 'shop_server_1', '--format', '{{.State.Status}} {{.State.ExitCode}}'];
  expect(await podman.succeed('/', state)).toBe('exited 0\n');
  const log = await podman.succeed('/', ['podman', 'logs', 'shop_server_1']);
  for (const secret of [password, readFileSync(join(project.folder, 'secrets/secret'), 'utf8').trim()]) {
    expect(log).not.toContain(secret);
  }
  // Another container of the image has the uploads, because the volume stays.
  await podman.succeed('/', ['podman', 'rm', 'shop_server_1']);
  await podman.succeed(project.folder, ['podman-compose', 'up', '--detach']);
  await expect.poll(() => readUpload(url, file).catch(() => ''), { timeout: minutes }).toBe('hello');
});

test('systemd: the commands of the page install a unit that serves, and that systemd watches', {
  timeout: 4 * minutes,
}, async ({ skip }) => {
  const problem = bootProblem();
  skip(problem !== null, problem ?? '');
  const database = await createDatabaseOn(postgres.url);
  const port = await freePort();
  const [, , commands = ''] = blocksOf(readText('docs/deployment.md'), 'sh');
  const [ofUser = '', ofRoot = ''] = commands.split(/^(?=sudo mkdir)/m);
  const ofProject = ['bash', '-euc', `npx platform migrate\n${ofUser}`];
  await machine.succeed(project.folder, ofProject, { DATABASE_URL: database.url });
  const system = await boot(machine, project.folder);
  booted = system;
  const environment = `PORT=${port}\nADMIN_PASSWORD=${password}\n`;
  const prelude = `sudo() { "$@"; if [ "$1" = mkdir ]; then echo "${environment}" > /etc/tablewright/environment; fi; }\n`;
  const script = ofRoot.replace('postgres://user:password@host:5432/database', database.url);
  await system.succeed('bash', '-euc', `cd /srv/tablewright\n${prelude}${script}`);
  const show = async (name: string): Promise<string> =>
    (await system.succeed('systemctl', 'show', 'tablewright', `--property=${name}`, '--value')).trim();
  // The start of the unit has waited for READY=1.
  expect(await show('ActiveState')).toBe('active');
  const url = `http://127.0.0.1:${port}`;
  expect(await show('StatusText')).toBe(`Listening on ${url}`);
  await use(url, 'from systemd');
  await upload(url);
  expect(readdirSync(join(system.root, 'var/lib/private/tablewright/uploads'))).toHaveLength(2);
  const pid = await show('MainPID');
  const within = (...command: string[]) => system.run('nsenter', '--mount', '--target', pid, ...command);
  expect(await within('touch', '/srv/new')).toMatchObject({ code: 1, output: expect.stringContaining('Read-only') });
  const credentials = '/run/credentials/tablewright.service/secret';
  expect((await within('stat', '--format=%a', credentials)).output).toBe('400\n');
  expect(await system.run('systemd-analyze', 'verify', 'tablewright.service')).toEqual({ code: 0, output: '' });

  const settings = join(system.root, 'etc/systemd/system/tablewright.service.d');
  mkdirSync(settings);
  writeFileSync(join(settings, 'test.conf'), '[Service]\nWatchdogSec=2s\nEnvironment=SHUTDOWN_DELAY=3s\n');
  await system.succeed('systemctl', 'daemon-reload');
  await system.succeed('systemctl', 'restart', 'tablewright');
  // Without WATCHDOG=1 the service would not live this long.
  await sleep(3000);
  expect(await show('NRestarts')).toBe('0');
  await system.succeed('kill', '-STOP', await show('MainPID'));
  await expect.poll(() => show('NRestarts'), { timeout: minutes }).toBe('1');
  await expect.poll(() => show('ActiveState'), { timeout: minutes }).toBe('active');
  expect((await fetch(`${url}/server/ready`)).status).toBe(200);

  await system.succeed('kill', '-TERM', await show('MainPID'));
  // Only STOPPING=1 tells systemd that a process which it did not stop itself is about to end.
  await expect.poll(() => show('ActiveState')).toBe('deactivating');
  expect((await fetch(`${url}/server/ping`)).status).toBe(200);
  await expect.poll(() => show('ActiveState'), { timeout: minutes }).toBe('inactive');
  expect([await show('Result'), await show('ExecMainStatus')]).toEqual(['success', '0']);
  const log = await system.succeed('journalctl', '--unit=tablewright', '--no-pager');
  for (const secret of [password, database.url]) expect(log).not.toContain(secret);
});

/** Secrets by the names of their files: the page makes the first one, the others are those of this test. */
function secrets(): Readonly<Record<string, string>> {
  const secret = readFileSync(join(project.folder, 'secrets/secret'), 'utf8');
  return { secret, admin_password: `${password}\n`, database_url: `${postgres.url}\n` };
}

/** Variables that compose.yaml gives to the server, with its secrets in files of this machine. */
function composed(): Record<string, string> {
  for (const [name, text] of Object.entries(secrets())) machine.write(`run/secrets/${name}`, text);
  const { environment } = parse(readFileSync(join(project.folder, 'compose.yaml'), 'utf8')).services.server;
  const values = Object.entries<string>(environment).map(([name, value]) => [
    name,
    value.replace(/\$\{\w+:-(.*)\}/, '$1').replace(/^\/run\//, `${machine.folder}/run/`),
  ]);
  return Object.fromEntries(values);
}

function printed(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += String(chunk)));
  return () => text;
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@example.com', password }),
  });
  const { data }: { readonly data: { readonly access_token: string } } = JSON.parse(await answer.text());
  return data.access_token;
}

/** Uploads a file, and resolves to its key. */
async function upload(url: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt');
  const headers = { authorization: `Bearer ${await signIn(url)}` };
  const answer = await fetch(`${url}/files`, { method: 'POST', headers, body: form });
  const { data }: { readonly data: { readonly id: string } } = JSON.parse(await answer.text());
  expect(answer.status).toBe(200);
  return data.id;
}

async function readUpload(url: string, key: string): Promise<string> {
  const answer = await fetch(`${url}/assets/${key}`, { headers: { authorization: `Bearer ${await signIn(url)}` } });
  return answer.text();
}
