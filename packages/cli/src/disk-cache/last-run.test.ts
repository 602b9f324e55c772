/** A run restores files that were changed meanwhile, and does not write the others again. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { knownOutput, type LeftOutput, noteOutput } from '../dev/rebuild.ts';
import { sealManifest } from '../output/manifest.ts';
import { type OutputFile, writeFiles } from '../output/write-files.ts';
import { lookAtLastRun } from './last-run.ts';

const parent = mkdtempSync(join(tmpdir(), 'platform-last-run-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const summary = { collections: 0, fields: 0, relations: 0, routes: 0, accessClasses: 0, files: 0 };
const names = ['a.ts', 'b.ts', 'c/d.ts', 'c/e.json'];

/** Output of a run, and the changes made to its files before the next one. */
const runs = fc.array(
  fc.record({
    texts: fc.dictionary(fc.constantFrom(...names), fc.constantFrom('one', 'two', 'four'), { minKeys: 1 }),
    touched: fc.dictionary(fc.constantFrom(...names), fc.constantFrom('gone', 'one', 'two', 'longer')),
    forgotten: fc.boolean(),
  }),
  { minLength: 2, maxLength: 6 },
);

test('files are as they were made, also where they are not read', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async (all) => {
      const folder = mkdtempSync(join(parent, 'project-'));
      const project = { output: join(folder, 'generated'), stateFolder: join(folder, '.platform') };
      let before: Readonly<Record<string, string>> = {};
      for (const { texts, touched, forgotten } of all) {
        // A kernel may tell times in steps of 10 ms.
        if (Object.keys(touched).length > 0) await setTimeout(11);
        const isTouched = Object.keys(touched).filter((name) => touch(join(project.output, name), touched[name] ?? ''));
        if (forgotten) rmSync(project.stateFolder, { recursive: true, force: true });
        const files = filesOf(texts);
        const last = await lookAtLastRun(project, {
          inputs: { templates: new Map() },
          schema: () => [JSON.stringify(texts)],
        });
        const isSame = JSON.stringify(before) === JSON.stringify(texts) && isTouched.length === 0 && !forgotten;
        expect(last.untouched).toEqual(isSame ? summary : null);
        const { paths } = await writeFiles(project.output, files, { holds: last.holds, force: true });
        for (const { path, contents } of files) {
          expect(readFileSync(join(project.output, path), 'utf8')).toBe(contents);
          if (before[path] === contents && !isTouched.includes(path)) expect(paths).not.toContain(path);
        }
        expect(listed(project.output)).toEqual(files.map(({ path }) => path).sort());
        await last.keep(summary, files);
        before = texts;
      }
    }),
    { numRuns: 25 },
  );
});

test('of a process that goes on, too, which reads no untouched file', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async (all) => {
      const output = join(mkdtempSync(join(parent, 'output-')), 'generated');
      let left: LeftOutput = new Map();
      let before: Readonly<Record<string, string>> = {};
      for (const { texts, touched } of all) {
        if (Object.keys(touched).length > 0) await setTimeout(11);
        const isTouched = Object.keys(touched).filter((name) => touch(join(output, name), touched[name] ?? ''));
        const files = filesOf(texts);
        const holds = knownOutput(output, left);
        for (const file of files) {
          const was = before[file.path];
          const isKnown = was !== undefined && !isTouched.includes(file.path);
          if (file.path !== 'manifest.json') expect(holds(file)).toBe(isKnown ? was === file.contents : null);
        }
        const { paths } = await writeFiles(output, files, { holds, force: true });
        for (const { path, contents } of files) {
          expect(readFileSync(join(output, path), 'utf8')).toBe(contents);
          if (before[path] === contents && !isTouched.includes(path)) expect(paths).not.toContain(path);
        }
        left = noteOutput(output, files);
        before = texts;
      }
    }),
    { numRuns: 25 },
  );
});

/** One text is in chunks. */
function filesOf(texts: Readonly<Record<string, string>>): readonly OutputFile[] {
  const made = Object.entries(texts).map(([path, contents]): OutputFile => {
    return path === 'c/e.json'
      ? { path, contents, chunks: [contents.slice(0, 1), contents.slice(1)] }
      : { path, contents };
  });
  return sealManifest([...made, { path: 'manifest.json', contents: '{}' }]);
}

/** Removes a file or writes it by hand, at the same time as far as anybody can say that. False where there is none. */
function touch(path: string, text: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (text === 'gone') {
    rmSync(path);
    return true;
  }
  writeFileSync(path, text);
  utimesSync(path, found.atime, found.mtime);
  return true;
}

function listed(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
}
