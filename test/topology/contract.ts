/** Contract tests on the servers of a topology: a choice of those that pass on one server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTopology, type TopologyServers } from '../support/topology-servers.ts';
import type { CaseRow } from './report.ts';

const repository = join(import.meta.dirname, '..', '..');
// Those of cookies are left out: answers to writes have one more.
const few = ['singletons'];
const many = [...few, 'missing-parents', 'writes-permissions', 'exact-json', 'idempotency', 'users'];

/** Database that contract tests run on. */
export interface ContractTarget {
  readonly dialect: 'postgres' | 'mysql' | 'mariadb';
  /** Address of the server that takes writes, of a user who may do everything. */
  readonly url: string;
  readonly servers: Omit<TopologyServers, 'primary'>;
  /** How these are reached, where there are several ways. */
  readonly way?: string;
}

/** Runs them in a process of its own. */
export async function runContract(
  { dialect, url, servers, way = '' }: ContractTarget,
  isShort: boolean,
): Promise<CaseRow> {
  const files = (isShort ? few : many).map((name) => `test/contract/${name}.test.ts`);
  const folder = mkdtempSync(join(tmpdir(), 'platform-contract-'));
  const output = join(folder, 'report.json');
  const reporter = ['--reporter=json', `--outputFile=${output}`];
  const args = ['run', '--project', 'database', '--maxWorkers=1', ...reporter, ...files];
  const child = spawn(process.execPath, [join(repository, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: repository,
    env: {
      ...environment(),
      ...onTopology({ ...servers, primary: new URL(url).host }),
      // The run starts no PostgreSQL where an address is set, also one that none of its tests asks.
      POSTGRES_URL: 'postgres://nowhere.invalid/',
      [`${dialect.toUpperCase()}_URL`]: url,
      ...(dialect !== 'postgres' && { CONTRACT_DATABASE: dialect }),
    },
    stdio: 'ignore',
  });
  await once(child, 'exit');
  const { numPassedTests: passed, numFailedTests: failed, failures } = read(readFileSync(output, 'utf8'));
  rmSync(folder, { recursive: true });
  return {
    name: `contract tests of ${files.length} files${way === '' ? '' : `, ${way}`}`,
    expected: 'every one that passes on one server',
    measured: `${passed} passed, ${failed} failed${failures.map((title) => `; ${title}`).join('')}`,
    isMet: failed === 0 && passed > 5 * files.length,
  };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function read(printed: string) {
  const report: Report = JSON.parse(printed);
  const failures = report.testResults.flatMap(({ status, name, message, assertionResults }) => {
    const failed = assertionResults.filter((result) => result.status === 'failed').map(({ fullName }) => fullName);
    return status === 'failed' && failed.length === 0 ? [`${name} ${message}`] : failed;
  });
  return {
    ...report,
    numFailedTests: Math.max(report.numFailedTests, failures.length),
    failures: failures.slice(0, 5),
  };
}

/** That of the process, without what a run of tests around it has set. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST$|NODE_ENV)/.test(name)));
}
