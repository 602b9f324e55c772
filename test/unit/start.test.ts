/** What a process must not pay for before it is asked. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
  const compiler = packagesLoadedWith('packages/compiler/src/compiling.ts');
  expect(command).toContain('@tablewright/introspect/resolve');
  expect(compiler).toContain('@tablewright/runtime/language');
  for (const name of ['fastify', 'pg', 'graphql', '@tablewright/compiler', '@tablewright/introspect']) {
    expect([...command, ...compiler]).not.toContain(name);
  }
  expect(packagesLoadedWith('packages/cli/src/command-line.ts')).toEqual(['commander']);
});
