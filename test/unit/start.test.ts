/** What a process must not pay for before it is asked. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The packages that are loaded with a module of the repository. */
function packagesLoadedWith(path: string): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => { console.log(name); return next(name, context); } });
    await import(${JSON.stringify(join(root, path))});`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return output.split('\n').filter((name) => /^[a-z@]/.test(name) && !name.startsWith('node:'));
}

/** What Node itself loads of generated files, by name, and the API that they come to. */
function loadedByNode(files: Readonly<Record<string, string>>): {
  readonly names: readonly string[];
  readonly api: unknown;
} {
  const folder = mkdtempSync(join(tmpdir(), 'platform-generated-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'routes'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const script = `
    import { registerHooks } from 'node:module';
    const names = [];
    registerHooks({ load: (url, context, next) => { names.push(url.split('/').at(-1)); return next(url, context); } });
    const { importGenerated } = await import(${JSON.stringify(join(root, 'packages/cli/src/modules/generated-modules.ts'))});
    names.length = 0;
    const { api } = await importGenerated(${JSON.stringify(folder)});
    console.log(JSON.stringify({ names, api }));`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

test('Node looks for types in what the compiler does not print only', () => {
  const server = "// Generated.\nimport { a } from './routes/a.ts';\n\nexport const api: CompiledApi = {\n  a,\n};\n";
  const facts = (value: string): string => `// Generated.\nexport const a: Facts = {\n  value: ${value},\n};\n`;
  expect(loadedByNode({ 'server.ts': server, 'routes/a.ts': facts('1') })).toEqual({
    names: [],
    api: { a: { value: 1 } },
  });
  const own = `// Generated.\ntype Facts = { readonly value: number };\n${facts('2')}`;
  expect(loadedByNode({ 'server.ts': server, 'routes/a.ts': own })).toEqual({
    names: ['a.ts'],
    api: { a: { value: 2 } },
  });
  const cast = { 'server.ts': server, 'routes/a.ts': facts('3 as number') };
  expect(loadedByNode(cast)).toMatchObject({ api: { a: { value: 3 } } });
});

test('a server loads graphql-js when it is asked for GraphQL', () => {
  const atStart = packagesLoadedWith('packages/runtime/src/index.ts');
  expect(atStart).toContain('fastify');
  expect(atStart).not.toContain('graphql');
  expect(packagesLoadedWith('packages/runtime/src/graphql/service.ts')).toContain('graphql');
});

test('a server that was compiled before loads nothing that compiles, or that a first mail, upload or code needs', () => {
  const atStart = packagesLoadedWith('packages/cli/src/commands/start.ts');
  expect(atStart).toContain('@tablewright/runtime');
  const later = ['@tablewright/compiler', '@tablewright/introspect', '@tablewright/introspect/resolve', 'yaml'];
  for (const name of [...later, 'mysql2', 'mysql2/promise', 'nodemailer', 'file-type', '@fastify/busboy', 'otplib']) {
    expect(atStart).not.toContain(name);
  }
});

test('compiling without a database loads nothing that serves', () => {
  const command = packagesLoadedWith('packages/cli/src/commands/generate.ts');
  const compiler = packagesLoadedWith('packages/cli/src/descriptions/compile-kept.ts');
  expect(command).toContain('@tablewright/introspect/resolve');
  expect(compiler).toContain('@tablewright/compiler/compile');
  for (const name of ['fastify', 'pg', 'graphql', '@tablewright/compiler', '@tablewright/introspect']) {
    expect([...command, ...compiler]).not.toContain(name);
  }
  expect(packagesLoadedWith('packages/cli/src/command-line.ts')).toEqual(['commander']);
});
