/**
 * Projects of fixtures/projects, and of templates, as their users have them: in a folder of their own, with packages that npm
 * has installed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { packPackages, root } from '../packages/tarballs.ts';
import { makeDataFolder, removeDataFolder } from '../support/data-folder.ts';

/** How a command ended, and everything that it printed. */
export interface Ending {
  readonly code: number;
  readonly output: string;
}

/** Something that runs until it is stopped. */
export interface Service {
  /** Address at which it answers. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A folder with a project, which nothing of this repository lies above. */
export interface InstalledProject {
  readonly folder: string;
  /** Runs a command to its end: `npm`, `npx`, `git` or `sh`. */
  run(command: string, args: readonly string[], environment?: Environment, input?: string): Promise<Ending>;
  /** Starts a command, and resolves when it has printed an address that `pattern` finds. */
  serve(command: string, args: readonly string[], pattern: RegExp, environment?: Environment): Promise<Service>;
  /** Replaces a text in a file, which must be there. */
  replace(path: string, before: string, after: string): Promise<void>;
  remove(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** The manifest of a project, as far as it is read here. */
export interface ProjectManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** Copies a project of fixtures/projects and installs what it depends on. */
export async function installFixture(name: string): Promise<InstalledProject> {
  const project = await createFolder();
  await cp(join(root, 'fixtures/projects', name), project.folder, { recursive: true, filter: isSource });
  await install(project);
  return project;
}

/** Has the packed create-tablewright make a project of a template, and installs what it depends on. */
export async function createFromTemplate(template: string): Promise<InstalledProject> {
  const project = await createFolder();
  const creator = packPackages().find(({ name }) => name === 'create-tablewright')?.folder ?? '';
  const args = [join(creator, 'bin/create-tablewright.cjs'), 'app', '--yes', '--no-install', '--template', template];
  await succeed(project, 'node', args);
  const app = { ...projectIn(join(project.folder, 'app')), remove: project.remove };
  await install(app);
  return app;
}

async function install(project: InstalledProject): Promise<void> {
  const path = join(project.folder, 'package.json');
  await writeFile(path, JSON.stringify(withTarballs(JSON.parse(await readFile(path, 'utf8'))), null, 2));
  await succeed(project, 'npm', ['install', ...quietly]);
}

/** Options of npm that keep what it prints, and what it asks of others, to what a test needs. */
export const quietly = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** A command that has to succeed. */
export async function succeed(
  project: InstalledProject,
  command: string,
  args: readonly string[],
  input = '',
): Promise<string> {
  const { code, output } = await project.run(command, args, {}, input);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

/** Makes an empty folder. */
export async function createFolder(): Promise<InstalledProject> {
  return projectIn(await realpath(makeDataFolder('project ü')));
}

function projectIn(folder: string): InstalledProject {
  return {
    folder,
    run: (command, args, environment = {}, input = '') => run(folder, command, args, environment, input),
    serve: (command, args, pattern, environment = {}) => serve(folder, command, args, pattern, environment),
    async replace(path, before, after) {
      const file = join(folder, path);
      const text = await readFile(file, 'utf8');
      if (!text.includes(before)) throw new Error(`${path} does not have "${before}".`);
      // Renamed into place as by an editor: a development server would serve a file that is just empty.
      await writeFile(`${file}~`, text.replace(before, after));
      await rename(`${file}~`, file);
    },
    remove: async () => removeDataFolder(folder),
  };
}

/** The manifest with the packages of this repository in the place of those of the registry. */
export function withTarballs(manifest: ProjectManifest): ProjectManifest {
  const tarballs = Object.fromEntries(packPackages().map(({ name, path }) => [name, `file:${path}`]));
  const packed = (dependencies: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(dependencies).map(([name, version]) => [name, tarballs[name] ?? version]));
  const { dependencies, devDependencies } = manifest;
  return {
    ...manifest,
    dependencies: packed(dependencies),
    devDependencies: packed(devDependencies),
    overrides: tarballs,
  };
}

function isSource(path: string): boolean {
  return !/\/(?:node_modules|generated|dist|\.platform|platform\.schema\.json|package-lock\.json)$/.test(path);
}

/** Nothing of the session that runs the tests, but the Node of this repository, and certificates on the way to the registry. */
function variables(environment: Environment): NodeJS.ProcessEnv {
  const { HOME, NODE_EXTRA_CA_CERTS, PATH = '' } = process.env;
  return {
    HOME,
    ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
    PATH: [join(root, 'node_modules/.bin'), PATH].join(delimiter),
    LOGIN_STALL_TIME: '0',
    LOG_LEVEL: 'error',
    ...environment,
  };
}

function run(
  cwd: string,
  command: string,
  args: readonly string[],
  environment: Environment,
  input: string,
): Promise<Ending> {
  return new Promise((resolve) => {
    const options = { cwd, env: variables(environment), maxBuffer: 1 << 26 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
    // A command that reads nothing may end before it is told anything.
    child.stdin?.on('error', () => {}).end(input);
  });
}

async function serve(
  cwd: string,
  command: string,
  args: readonly string[],
  pattern: RegExp,
  environment: Environment,
): Promise<Service> {
  // A group of its own: npm passes no signal on to what it has started.
  const child = spawn(command, args, { cwd, env: variables(environment), detached: true });
  const ended = once(child, 'exit');
  const url = await printedAddress(child, pattern, ended);
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}

async function printedAddress(child: ChildProcess, pattern: RegExp, ended: Promise<unknown>): Promise<string> {
  let output = '';
  const found = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += String(chunk);
      const [, url] = pattern.exec(output) ?? [];
      if (url !== undefined) found.resolve(url);
    });
  }
  void ended.then(() => found.reject(new Error(`It ended before it listened:\n${output}`)));
  return found.promise;
}
