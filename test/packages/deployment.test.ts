/**
 * The image of a project without a container engine: the Dockerfile's own commands, then its server as an ordinary user on
 * files that nobody may change, with secrets from files.
 */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readText } from '../architecture/files.ts';
import { blocksOf } from '../support/examples.ts';
import { freePort } from '../support/free-port.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { buildImage, canConfine, confined, type Image } from './dockerfile.ts';
import { compile, install, type Project, runIn, use } from './journey.ts';
import { isRoot, type Machine, startMachine } from './machine.ts';
import { npm } from './managers.ts';

const minutes = 60_000;
const password = 'a password of a stranger';
let machine: Machine;
let postgres: PostgresServer;
let project: Project;
let image: Image;

beforeAll(async () => {
  [machine, postgres] = await Promise.all([startMachine(), startPostgres()]);
  project = await install(machine, npm, 'shop');
  await compile(project);
}, 6 * minutes);
afterAll(async () => {
  await postgres?.stop();
  await machine?.close();
}, minutes);

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
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('docker or systemd, not "ship"') });
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
    const upload = await send(`${url}/files`, await signIn(url));
    expect(upload).toBe(200);
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
  const main = join(image.root, 'app/generated/main.ts');
  const { code, output } = await machine.run(join(image.root, 'data'), ['node', main], variables);
  expect([code, output]).toEqual([4, 'SECRET_FILE names a file that does not exist.\n']);
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

async function send(url: string, token: string): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt');
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form });
  await answer.arrayBuffer();
  return answer.status;
}
