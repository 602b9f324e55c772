/** Reporter: a table at the end of a run, one line per package manager and case. It holds the tests called `<manager>: <case>`. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export default class CaseTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    console.table(modules.flatMap((module) => [...module.children.allTests()]).flatMap(lineOf));
  }
}

function lineOf(test: TestCase) {
  const [, manager, name] = /^(npm|pnpm|Yarn 4[^:]*): (.+)$/.exec(test.name) ?? [];
  const { state } = test.result();
  if (manager === undefined || state === 'skipped') return [];
  return [{ manager, case: name, result: state, seconds: Math.round((test.diagnostic()?.duration ?? 0) / 1000) }];
}
