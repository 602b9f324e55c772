/** Two threads make what one makes, to the byte. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompileResult, compile, type ExtensionSource, type GeneratedFile } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { type DescribingThread, startDescribing } from '../../packages/cli/src/descriptions/describing-thread.ts';
import { packFiles, unpackFiles } from '../../packages/cli/src/descriptions/packed-files.ts';
import { prepareCompiler } from '../../packages/cli/src/descriptions/prepare-compiler.ts';

const repository = join(import.meta.dirname, '../..');
const templates = textsIn(join(repository, 'templates'), '.hbs');

test('descriptions of a second thread, and everything else of this one', { timeout: 60_000 }, async () => {
  const schema = schemaOf('extensions');
  const [extensions, modules] = [sourcesIn('extensions'), sourcesIn('extensions/lib')];
  const inputs = { templates, extensions, modules, output: 'expected' };
  const whole = compile(schema, inputs);
  const others = compile(schema, { ...inputs, part: 'others' });
  expect(others.files.length).toBeGreaterThan(0);
  const thread = startDescribing({ inputs });
  const { files } = await describe(thread, schema);
  await thread.close();
  const joined = others.describedBy?.(files);
  expect(joined && textsOf(joined.files)).toEqual(textsOf(whole.files));
  expect(joined?.summary).toEqual(whole.summary);
});

test('of what does not compile there are no descriptions', { timeout: 60_000 }, async () => {
  const schema = schemaOf('extensions');
  const inputs = { templates, extensions: [{ path: 'extensions/a.ts', text: 'nothing', from: '../extensions/a.ts' }] };
  expect(compile(schema, inputs).files).toEqual([]);
  const thread = startDescribing({ inputs });
  const { files, diagnostics } = await describe(thread, schema);
  expect(files).toEqual([]);
  expect(diagnostics).toEqual(compile(schema, inputs).diagnostics);
  await thread.close();
});

test('what is wrong is said, whichever thread finds it', { timeout: 60_000 }, async () => {
  const inputs = { templates: new Map([...templates, ['clientCollection.hbs', '{{nobody}}']]) };
  const compiler = prepareCompiler(inputs, { tables: 1000, memoCache: null });
  const { files, diagnostics } = await compiler.compile(schemaOf('extensions'));
  await compiler.close();
  expect(files).toEqual([]);
  expect(diagnostics).toEqual(compile(schemaOf('extensions'), inputs).diagnostics);
  expect(diagnostics[0]?.message).toContain('nobody');
});

test('a thread that fails says so', async () => {
  const thread = startDescribing({ inputs: { templates } });
  const noSchema: Schema = JSON.parse('{}');
  await expect(describe(thread, noSchema)).rejects.toThrow('undefined');
  await thread.close();
});

test('pieces are packed once, whatever they are', () => {
  const long = new Uint8Array(new SharedArrayBuffer(1 << 20)).fill(65);
  const chunks = ['ä – 😀', 'x'.repeat(2_000_000), long.subarray(7, 9), Buffer.from('short'), long.subarray(100, 200)];
  const file = (path: string, own: GeneratedFile['chunks']): GeneratedFile => ({
    path,
    contents: '',
    chunks: own ?? [],
  });
  const packed = packFiles([file('a', chunks), file('b', [...chunks].reverse()), { path: 'c', contents: 'whole' }]);
  const unpacked = unpackFiles(packed);
  const text = (all: typeof chunks) => all.map((chunk) => Buffer.from(chunk).toString()).join('');
  expect(unpacked.map(({ contents }) => contents)).toEqual([text(chunks), text([...chunks].reverse()), 'whole']);
  expect(packed.places).toHaveLength(3 * (chunks.length + 1));
  expect(packed.buffers).toContain(long.buffer);
});

async function describe(
  thread: DescribingThread,
  schema: Schema,
): Promise<Pick<CompileResult, 'files' | 'diagnostics'>> {
  const files: GeneratedFile[] = [];
  const diagnostics = await thread.describe(schema, (more) => files.push(...more));
  return { files, diagnostics };
}

function schemaOf(name: string): Schema {
  return JSON.parse(readFileSync(join(repository, 'test/golden', name, 'schema.json'), 'utf8'));
}

/** Extensions of the case, or what they import. */
function sourcesIn(folder: string): readonly ExtensionSource[] {
  const texts = textsIn(join(repository, 'test/golden/extensions', folder), '.ts');
  return [...texts].map(([file, text]) => ({ path: `${folder}/${file}`, text, from: `../${folder}/${file}` }));
}

function textsIn(folder: string, ending: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function textsOf(files: readonly GeneratedFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, contents }) => [path, contents] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}
