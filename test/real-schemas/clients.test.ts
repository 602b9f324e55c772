/**
 * Clients of every role over the sample and over schemas that nobody of this project wrote, as their users compile them:
 * beside the package as it is published, with everything checked. Documents of the same schemas.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parsePermissions, resolveSchema, type SchemaFacts } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import { systemCollection } from '@tablewright/runtime/language';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { emitOpenApi } from '../../packages/compiler/src/openapi/index.ts';
import { brokenLaws } from '../../packages/compiler/src/openapi/testing/generator-laws.ts';
import { resolveApi } from '../../packages/compiler/src/passes/resolve-api.ts';
import { bytesPerCollection, emitClients } from '../support/client-files.ts';
import { check, compilerOptions, compilers } from '../support/compilers.ts';
import { findAny } from '../support/find-any.ts';
import { partialRights } from '../support/partial-rights.ts';
import { createProject } from '../support/platform.ts';
import { noRealSchemas, realFacts } from '../support/real-schemas.ts';
import { sampleConfig, sampleFacts, sampleSchema } from '../support/sample-facts.ts';

const clientPackage = join(import.meta.dirname, '../../packages/client');

let project: Awaited<ReturnType<typeof createProject>>;
const names: string[] = [];
/** Of each schema, bytes for each collection in the client with the most. */
const scriptBytes: Record<string, number> = {};

beforeAll(async () => {
  project = await createProject();
  await writePackage();
  await writeClients('sample', await sampleSchema());
  const isSystem = ({ name }: { readonly name: string }): boolean => systemCollection(name) !== undefined;
  await writeClients('parts-of-the-sample', schemaOf(await sampleFacts(), sampleConfig, isSystem));
  for (const { name, facts } of await realFacts())
    await writeClients(
      name,
      schemaOf(facts, {}, () => false),
    );
  const options = { ...compilerOptions, allowImportingTsExtensions: false, skipLibCheck: false };
  await write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['**/*.d.ts'] }));
}, 300_000);
afterAll(() => project?.remove());

/** The schema with roles that have parts of all rights. */
function schemaOf(facts: SchemaFacts, config: typeof sampleConfig, alone: Parameters<typeof partialRights>[1]): Schema {
  const bare = resolveSchema(facts, config, parsePermissions('', 'permissions.yaml').document).schema;
  const { schema, diagnostics } = resolveSchema(facts, config, partialRights(bare.collections, alone));
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  return schema;
}

async function writeClients(name: string, schema: Schema): Promise<void> {
  names.push(name);
  const files = emitClients(schema);
  scriptBytes[name] = Math.round(Math.max(...bytesPerCollection(files)));
  for (const { path, contents } of files) await write(join(name, path), contents);
}

/** The declarations of `@tablewright/client` as they are published. */
async function writePackage(): Promise<void> {
  const place = 'node_modules/@tablewright/client';
  const { publishConfig, ...manifest } = JSON.parse(await readFile(join(clientPackage, 'package.json'), 'utf8'));
  await write(join(place, 'package.json'), JSON.stringify({ ...manifest, ...publishConfig }));
  const output = join(project.folder, place, 'dist');
  const build = ['--project', join(clientPackage, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', output];
  execFileSync(process.execPath, [compilers['5.9'], ...build, '--tsBuildInfoFile', join(output, '.tsbuildinfo')]);
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(project.folder, path)), { recursive: true });
  await writeFile(join(project.folder, path), text);
}

it('the sample and parts of all rights on its system collections are among them', () => {
  expect(names.slice(0, 2)).toEqual(['sample', 'parts-of-the-sample']);
});

it.skipIf(noRealSchemas)('skipped without ../shared: real schemas are among them', () => {
  expect(names).toEqual(expect.arrayContaining(['postgres-pagila', 'postgres-cratesio', 'postgres-temporal']));
});

it.skipIf(noRealSchemas)(
  'skipped without ../shared: documents of real schemas keep the laws of generators',
  { timeout: 120_000 },
  async () => {
    const all = await realFacts();
    expect(all.length).toBeGreaterThanOrEqual(5);
    for (const { name, facts } of all) {
      const { schema } = resolveSchema(facts, {}, parsePermissions('', 'permissions.yaml').document);
      const document = JSON.parse(JSON.stringify(emitOpenApi(resolveApi(schema), null)));
      expect(brokenLaws(document), name).toEqual([]);
    }
  },
);

it('have scripts below 1 kB for each collection, compressed as they are', () => {
  console.table(scriptBytes);
  expect(Object.keys(scriptBytes)).toEqual(names);
  expect(Object.entries(scriptBytes).filter(([, bytes]) => !(bytes < 1_000))).toEqual([]);
});

it.each(['5.4', '7.0'] as const)('pass TypeScript %s at its strictest', { timeout: 300_000 }, async (version) => {
  const { complaints } = await check(version, join(project.folder, 'tsconfig.json'));
  expect(complaints).toBe('');
});

it('pass TypeScript 5.9, and nothing that they export is any or made of it', { timeout: 300_000 }, () => {
  const program = programOf('tsconfig.json');
  const complaints = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
  expect(complaints).toEqual([]);
  const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(project.folder));
  expect(own.length).toBeGreaterThan(100);
  expect(findAny(program, own)).toEqual([]);
});

it('a type that is named and not imported is found, though lenient projects are told nothing', async () => {
  await write('lenient/tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.d.ts'] }));
  await write('lenient/index.d.ts', 'export interface Client { readonly activity: Promise<Missing | null> }');
  const program = programOf('lenient/tsconfig.json');
  const found = findAny(
    program,
    program.getSourceFiles().filter(({ fileName }) => fileName.endsWith('lenient/index.d.ts')),
  );
  expect(found.map((place) => place.split(': ')[1])).toEqual(['Client.activity<0>']);
});

function programOf(path: string): ts.Program {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    join(project.folder, path),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  if (parsed === undefined) throw new Error(`${path} cannot be read.`);
  return ts.createProgram(parsed.fileNames, parsed.options);
}

function fail({ messageText }: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
}
