/** The packages as `pnpm pack` makes them, unpacked without a network: entries, command, types, and code compiled over the types. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bytesPerCollection } from '../support/client-files.ts';
import { compileFacts } from '../support/compile.ts';
import { check, compilerOptions } from '../support/compilers.ts';
import { sampleSchema } from '../support/sample-facts.ts';
import { packPackages, root } from './tarballs.ts';

const names = ['runtime', 'introspect', 'compiler', 'create', 'cli', 'client'];

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

let elsewhere: string;

beforeAll(() => {
  elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'platform-publish-')));
  for (const name of names) install(name);
}, 300_000);
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

/** Unpacks what `pnpm pack` makes, beside links to the other people's packages that its manifest names: no network. */
function install(name: string): void {
  const target = packageFolder(name);
  const archive = packPackages().find((tarball) => tarball.name === publishedName(name))?.path ?? '';
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
  const { dependencies, peerDependencies } = manifestOf(name);
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (/^(?:@|create-)?tablewright\b/.test(dependency)) continue;
    const link = join(target, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, 'packages', name, 'node_modules', dependency)), link, 'junction');
  }
}

function packageFolder(name: string): string {
  return join(elsewhere, 'node_modules', publishedName(name));
}

/** Name on the registry of the package in the folder `packages/<name>`. */
function publishedName(name: string): string {
  return { cli: 'tablewright', create: 'create-tablewright' }[name] ?? `@tablewright/${name}`;
}

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8'));
}

function run(cwd: string, ...args: string[]): string {
  const env = { ...process.env, DATABASE_URL: '' };
  return execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Every public entry as its users write it, such as `@tablewright/runtime/language`. */
function entriesOf(name: string): string[] {
  return Object.keys(manifestOf(name).exports).map((path) => `${publishedName(name)}${path.slice(1)}`);
}

test.each(names)('packages/%s depends on versions and holds no tests', (name) => {
  const versions = Object.values(manifestOf(name).dependencies ?? {});
  expect(versions.filter((version) => version.startsWith('workspace:'))).toEqual([]);
  const files = readdirSync(packageFolder(name), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /\.test\.|\/testing\b/.test(file) && !file.startsWith('node_modules'))).toEqual([]);
});

test.each(names)('every entry of packages/%s is importable by plain Node', (name) => {
  for (const entry of entriesOf(name)) run(elsewhere, '--input-type=module', '--eval', `await import('${entry}')`);
});

test('the published command answers', () => {
  const main = manifestOf('cli').bin?.platform ?? '';
  expect(run(elsewhere, join(packageFolder('cli'), main), '--help')).toContain('Usage: platform');
});

test('the published runtime brings what it prints and what browsers load', () => {
  const program = `
    const of = (path) => import('./node_modules/@tablewright/runtime/dist/' + path);
    const [mails, pages, { isCommonPassword }] = await Promise.all(
      ['mail/templates.js', 'pages/pages.js', 'passwords/password-policy.js'].map(of),
    );
    mails.loadMailTemplates(null);
    console.log('refused', isCommonPassword('dragon'));
    console.log(pages.loadPageTemplates(null).print('login', { project: 'P', passwordMinLength: 8, passwords: true }));
    console.log([...pages.readScripts().keys()].join(' '));`;
  const printed = run(elsewhere, '--input-type=module', '--eval', program);
  expect(printed).toContain('<title>Sign in · P</title>');
  expect(printed).toContain('refused true');
  expect(printed).toMatch(/\blogin\.js\b.*\blibrary-uqr\.js\b/);
});

test('the published command makes, compiles and serves a project', { timeout: 120_000 }, async () => {
  const main = join(packageFolder('cli'), manifestOf('cli').bin?.platform ?? '');
  const project = join(elsewhere, 'project');
  run(elsewhere, main, 'init', '--yes', '--project', project);
  run(elsewhere, main, 'generate', '--project', project);
  const server = spawn(process.execPath, [main, 'start', '--json', '--project', project], {
    env: { ...process.env, DATABASE_URL: '', PORT: '0', LOG_LEVEL: 'error', GRAPHIQL: 'true', DOCS: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const exited = once(server, 'exit');
  let output = '';
  for await (const chunk of server.stdout) {
    output += String(chunk);
    if (/"listening".*\n/.test(output)) break;
  }
  const url = /"listening","url":"(.*?)"/.exec(output)?.[1];
  expect(await (await fetch(`${url}/server/ping`)).text()).toBe('pong');
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })).text();
  const parts = [...page.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path = '']) => path);
  const statuses = await Promise.all(parts.map(async (path) => (await fetch(new URL(path, `${url}/graphql`))).status));
  expect(statuses).toEqual(Array.from({ length: 6 }, () => 200));
  const docs = ['docs.css', 'docs.js', 'docs-worker.js'].map(
    async (name) => (await fetch(`${url}/docs/${name}`)).status,
  );
  expect(await Promise.all(docs)).toEqual([200, 200, 200]);
  server.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
});

test('the published types are complete', { timeout: 60_000 }, () => {
  const consumer = join(elsewhere, 'consumer.ts');
  const imports = names.flatMap(entriesOf).map((entry, index) => `export * as n${index} from '${entry}';\n`);
  writeFileSync(consumer, imports.join(''));
  writeFileSync(join(elsewhere, 'package.json'), JSON.stringify({ type: 'module' }));
  const program = ts.createProgram([consumer], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  });
  const ours = program.getSourceFiles().filter((file) => file.fileName.startsWith(elsewhere));
  const problems = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  expect(problems.map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, '\n'))).toEqual([]);
});

test('the code that is compiled for the sample passes every compiler over the published types', {
  timeout: 180_000,
}, async () => {
  const sample = join(elsewhere, 'sample');
  const files = await compileFacts(await sampleSchema());
  // Budget: 1 kB for each collection of a class.
  expect(Math.max(...bytesPerCollection(files))).toBeLessThan(1_000);
  for (const { path, contents } of files) {
    mkdirSync(dirname(join(sample, 'generated', path)), { recursive: true });
    writeFileSync(join(sample, 'generated', path), contents);
  }
  const node = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
  const strictest = { compilerOptions: { ...compilerOptions, ...node, skipLibCheck: false }, include: ['generated'] };
  writeFileSync(join(sample, 'tsconfig.json'), JSON.stringify(strictest));
  for (const version of ['5.4', '5.9', '7.0'] as const) {
    const { complaints } = await check(version, join(sample, 'tsconfig.json'));
    expect(complaints, version).toBe('');
  }
});
