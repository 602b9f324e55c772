import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EditedFilesError, sealManifest, warnOfEdited } from './manifest.ts';
import { type OutputFile, writeFiles } from './write-files.ts';

let folder = '';
let output = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-write-'));
  output = join(folder, 'generated');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function filesOf(texts: Readonly<Record<string, string>>): readonly OutputFile[] {
  const manifest = { path: 'manifest.json', contents: '{"contract": 1}' };
  return sealManifest([...Object.entries(texts).map(([path, contents]) => ({ path, contents })), manifest]);
}

function present(): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
}

test('writes into a folder that is not there', async () => {
  expect(await writeFiles(output, filesOf({ 'a/b.ts': '1' }))).toEqual({
    paths: ['a/b.ts', 'manifest.json'],
    written: 2,
    unchanged: 0,
    removed: 0,
  });
  expect(present()).toEqual(['generated/a/b.ts', 'generated/manifest.json']);
});

test('tells of code that was edited, but not while another command writes it', async () => {
  const later = filesOf({ 'server.js': '2' });
  await writeFiles(output, filesOf({ 'server.js': '1' }));
  writeFileSync(join(output, 'server.js'), '2');
  setTimeout(() => writeFileSync(join(output, 'manifest.json'), later.at(-1)?.contents ?? ''), 100);
  expect(await warnOfEdited(output, 'generated')).toEqual([]);
  writeFileSync(join(output, 'server.js'), '3');
  expect(await warnOfEdited(output, 'generated')).toMatchObject([{ place: 'generated/server.js' }]);
});

test('leaves what did not change alone', async () => {
  await writeFiles(output, filesOf({ 'a.ts': '1', 'b.ts': '1' }));
  const long = new Date(0);
  utimesSync(join(output, 'a.ts'), long, long);
  expect(await writeFiles(output, filesOf({ 'a.ts': '1', 'b.ts': '2' }))).toEqual({
    paths: ['b.ts', 'manifest.json'],
    written: 2,
    unchanged: 1,
    removed: 0,
  });
  expect(statSync(join(output, 'a.ts')).mtime).toEqual(long);
  expect(readFileSync(join(output, 'b.ts'), 'utf8')).toBe('2');
});

test('two commands at once leave what both make, and neither stumbles over what the other removes', async () => {
  await writeFiles(output, filesOf({ 'a/b/c.ts': '1', 'f.ts': '1' }));
  await Promise.all([1, 2].map(() => writeFiles(output, filesOf({ 'f.ts': '2' }))));
  expect(present()).toEqual(['generated/f.ts', 'generated/manifest.json']);
  expect(existsSync(join(output, 'a'))).toBe(false);
});

test('removes what it made and makes no more, and folders that are empty then, but nothing of the user', async () => {
  await writeFiles(output, filesOf({ 'a/b/c.ts': '1', 'd/e.ts': '1', 'f.ts': '1' }));
  writeFileSync(join(output, 'd/mine.ts'), 'mine');
  writeFileSync(join(output, 'mine.ts'), 'mine');
  expect(await writeFiles(output, filesOf({ 'f.ts': '1' }))).toMatchObject({ removed: 2 });
  expect(present()).toEqual(['generated/d/mine.ts', 'generated/f.ts', 'generated/manifest.json', 'generated/mine.ts']);
  expect(existsSync(join(output, 'a'))).toBe(false);
});

test('removes nothing on the word of a manifest that it cannot read', async () => {
  mkdirSync(output);
  writeFileSync(join(output, 'manifest.json'), '{"files": ["mine.ts"');
  writeFileSync(join(output, 'mine.ts'), 'mine');
  expect(await writeFiles(output, filesOf({}))).toMatchObject({ removed: 0 });
  expect(present()).toContain('generated/mine.ts');
});

test.each(['../x.ts', '/x.ts', '.', 'a/../../x.ts', ''])('refuses to write or remove %j', async (path) => {
  await expect(writeFiles(output, [{ path, contents: '' }])).rejects.toThrow('below the output folder');
  mkdirSync(output);
  writeFileSync(join(output, 'manifest.json'), JSON.stringify({ files: { [path]: '' } }));
  await expect(writeFiles(output, [])).rejects.toThrow('below the output folder');
});

test('writes nothing when one file cannot be written', async () => {
  await writeFiles(output, filesOf({ 'a.ts': '1', 'c.ts': '1' }));
  mkdirSync(join(output, 'b.ts'));
  writeFileSync(join(output, 'b.ts/mine'), 'mine');
  const before = present();
  await expect(writeFiles(output, filesOf({ 'a.ts': '2', 'b.ts': '2' }))).rejects.toThrow();
  expect(present()).toEqual(before);
  expect(readFileSync(join(output, 'a.ts'), 'utf8')).toBe('1');
});

test('writes nothing where it cannot write', async () => {
  // A file in the way of the folder stops everybody, also root, whom permissions would not.
  const blocked = join(folder, 'file', 'generated');
  writeFileSync(join(folder, 'file'), 'mine');
  await expect(writeFiles(blocked, filesOf({ 'a.ts': '1' }))).rejects.toThrow('ENOTDIR');
  expect(readdirSync(folder)).toEqual(['file']);
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('mine');
});

test('what two documents say is there once, until one of them says something else', async () => {
  const place = (name: string): string => join(output, name);
  const documents = (a: string, b: string): readonly OutputFile[] =>
    sealManifest([
      { path: 'manifest.json', contents: '{"contract": 1}' },
      { path: 'a.json', contents: `{${a}`, chunks: ['{', Buffer.from(a)] },
      { path: 'b.json', contents: `{${b}`, chunks: ['{', Buffer.from(b)] },
    ]);
  await writeFiles(output, documents('one', 'one'));
  expect(statSync(place('a.json')).ino).toBe(statSync(place('b.json')).ino);
  for (const [a, b] of [
    ['one', 'two'],
    ['two', 'two'],
    ['six', 'six'],
    ['six', 'ten'],
  ] as const) {
    await writeFiles(output, documents(a, b));
    expect([readFileSync(place('a.json'), 'utf8'), readFileSync(place('b.json'), 'utf8')]).toEqual([`{${a}`, `{${b}`]);
  }
  expect(statSync(place('a.json')).nlink).toBe(1);
});

test('refuses to overwrite or remove what was edited, with every path, and changes nothing', async () => {
  await writeFiles(output, filesOf({ 'a.ts': '1\n', 'b/c.ts': '1\n', 'd.ts': '1\n', 'e.ts': '1\n' }));
  for (const name of ['a.ts', 'b/c.ts', 'e.ts']) writeFileSync(join(output, name), 'edited');
  const before = present();
  const next = filesOf({ 'a.ts': '2\n', 'd.ts': '2\n', 'e.ts': 'edited' });
  const refusal = await writeFiles(output, next).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(EditedFilesError);
  expect(String(refusal)).toContain('a.ts, b/c.ts.');
  expect(present()).toEqual(before);
  expect(readFileSync(join(output, 'd.ts'), 'utf8')).toBe('1\n');
  expect(await writeFiles(output, next, { force: true })).toMatchObject({ removed: 1 });
  expect(readFileSync(join(output, 'a.ts'), 'utf8')).toBe('2\n');
  // From now on nothing is edited.
  expect(await writeFiles(output, filesOf({ 'a.ts': '3\n' }))).toMatchObject({ removed: 2 });
});

test('refuses to overwrite a file that no run has written, until it is forced', async () => {
  mkdirSync(output);
  writeFileSync(join(output, 'package.json'), 'mine');
  const next = filesOf({ 'package.json': '{}', 'a.ts': '1' });
  const refusal = await writeFiles(output, next).catch((error: unknown) => error);
  expect(refusal instanceof EditedFilesError && refusal.diagnosticsOf('')).toMatchObject([
    { code: 'foreign-output', place: 'package.json' },
  ]);
  expect(present()).toEqual(['generated/package.json']);
  expect(readFileSync(join(output, 'package.json'), 'utf8')).toBe('mine');
  // A file with the same text is no obstacle.
  writeFileSync(join(output, 'a.ts'), '1');
  expect(await writeFiles(output, next, { force: true })).toMatchObject({ written: 2, unchanged: 1 });
  writeFileSync(join(output, 'b.ts'), 'mine');
  await expect(writeFiles(output, filesOf({ 'package.json': '{}', 'b.ts': '2' }))).rejects.toThrow(EditedFilesError);
  // A merge may have damaged the list of what was written.
  writeFileSync(join(output, 'manifest.json'), '<<<<<<< ours');
  expect(await writeFiles(output, filesOf({ 'b.ts': '2' }))).toMatchObject({ written: 2 });
});

test('knows generated files by their beginning where the manifest was lost', async () => {
  const files = (end: string) => filesOf({ 'a.ts': `// Generated by platform generate. DO NOT EDIT.\n${end}` });
  await writeFiles(output, files('1'));
  rmSync(join(output, 'manifest.json'));
  expect(await writeFiles(output, files('2'))).toMatchObject({ written: 2 });
});

test('takes line breaks of Windows for no edit', async () => {
  await writeFiles(output, filesOf({ 'a.ts': '1\n2\n' }));
  for (const name of ['a.ts', 'manifest.json']) {
    const path = join(output, name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('\n', '\r\n'));
  }
  expect(await writeFiles(output, filesOf({ 'a.ts': '3\n' }))).toMatchObject({ paths: ['a.ts', 'manifest.json'] });
});

test('leaves no staging folder behind', async () => {
  await writeFiles(output, filesOf({ 'a.ts': '1' }));
  await writeFiles(output, filesOf({ 'a.ts': '2' }));
  expect(readdirSync(folder)).toEqual(['generated']);
});
