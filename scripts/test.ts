/**
 * Types, lint, changesets and tests, side by side; `--no-database` leaves out the tests that need a server. The last line
 * counts everything: `N passed, N failed, N skipped`, where types, those of pages, lint and changesets are one test each.
 * Above it stand how many cases are on other servers as on PostgreSQL, and those of logic in the database by surface.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contractTable, type ReportedFile } from './contract-table.ts';
import { logicTable } from './logic-table.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly (ReportedFile & { readonly status: string })[];
}

const root = join(import.meta.dirname, '..');
/** The native compiler takes less than half of the processor's time. `npm run build` compiles the packages with the other one. */
const tsc = 'test/compilers/node_modules/typescript/bin/tsc';
const running = new Set<ChildProcess>();
const filters = process.argv.slice(2).filter((argument) => argument !== '--no-database');
const withDatabase = !process.argv.includes('--no-database');

async function main(): Promise<void> {
  const started = performance.now();
  // Code of projects of former runs stays in it for ever, under names that never come again: see vitest.config.ts.
  rmSync(join(root, '.tmp', 'compile-cache'), { recursive: true, force: true });
  const results = await Promise.all([
    step('types', [tsc]),
    step('types of pages', [tsc, '-p', 'packages/runtime/browser']),
    step('lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--max-diagnostics=50']),
    step('changesets', ['scripts/changesets.ts']),
    tests(),
  ]);
  const total = results.reduce((sum, counts) => ({
    passed: sum.passed + counts.passed,
    failed: sum.failed + counts.failed,
    skipped: sum.skipped + counts.skipped,
  }));
  console.log(`\n${((performance.now() - started) / 1000).toFixed(1)} s`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

/** Runs a tool that either succeeds or fails, and prints what it said when it failed. */
async function step(name: string, args: readonly string[]): Promise<Counts> {
  const child = start(args, 'pipe');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
  const failed = (await exitCode(child)) !== 0;
  console.log(failed ? `\n${output.trim()}\n\n✗ ${name}` : `✓ ${name}`);
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: 0 };
}

async function tests(): Promise<Counts> {
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const report = join(root, '.tmp', `vitest-${process.pid}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // Two projects install packages of other people from the registry: `npm run test:frontends`, `npm run test:packages`.
  const project = withDatabase ? ['--project', '!frontends', '--project', '!packages'] : ['--project', 'unit'];
  // Has files that wait run apart: see vitest.config.ts.
  if (withDatabase && filters.length === 0) process.env.TEST_ALL = '1';
  const child = start(['node_modules/vitest/vitest.mjs', 'run', ...project, ...reporters, ...filters], 'inherit');
  const code = await exitCode(child);
  try {
    const found: Report = JSON.parse(readFileSync(report, 'utf8'));
    for (const table of [contractTable(found.testResults), logicTable(found.testResults)]) {
      if (table.length > 0) console.log(`\n${table.join('\n')}`);
    }
    return count(found, code);
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(report, { force: true });
  }
}

/**
 * Counts the tests of a report. A file that does not load, or whose set-up fails, has no failed test to count, and an error
 * outside any test fails only the run: one each.
 */
function count(report: Report, code: number): Counts {
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  const failed = report.numFailedTests + unloaded.length;
  return {
    passed: report.numPassedTests,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function start(args: readonly string[], stdio: 'pipe' | 'inherit'): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', stdio, stdio] });
  running.add(child);
  return child;
}

async function exitCode(child: ChildProcess): Promise<number> {
  const [code] = await once(child, 'exit');
  running.delete(child);
  return typeof code === 'number' ? code : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
  });
}
await main();
