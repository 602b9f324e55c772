/**
 * Refuses changes of packages without a changeset. Compares with the commit that set the version of the packages, which
 * carries the release tag; on a branch, once there is a release, with the place where the branch leaves main.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Says what was compared, and fails with advice where a changeset is missing. */
export interface ChangesetVerdict {
  readonly ok: boolean;
  readonly message: string;
}

/** Where all packages have their version: they share one. */
const versionFile = 'packages/cli/package.json';

/** Judges the working tree of a repository, with what is not committed yet. */
export function judgeChangesets(root: string): ChangesetVerdict {
  const git = (...args: readonly string[]): string | null => runGit(root, args);
  const released = git('log', '-1', '--format=%H', '-G"version":', '--', versionFile);
  if (released === null || released === '') return { ok: true, message: 'no history to compare with' };
  const isCut = git('rev-parse', '--is-shallow-repository') === 'true';
  const base = baseOf(git, released);
  const changed = changedSince(git, base);
  const sources = changed.filter((path) => /^packages\/[^/]+\/src\//.test(path) && !/\.test\.ts$/.test(path));
  const changesets = changed.filter((path) => /^\.changeset\/(?!README)[^/]+\.md$/.test(path));
  const compared = `compared with ${base.slice(0, 8)}${isCut ? ', the oldest commit of a short history' : ''}`;
  if (sources.length === 0 || changesets.length > 0) return { ok: true, message: compared };
  return { ok: false, message: refusal(sources, compared) };
}

type Git = (...args: readonly string[]) => string | null;

/** Before the first release one changeset stands for everything, so branches need none of their own. */
function baseOf(git: Git, released: string): string {
  const isReleased = git('describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0', released) !== null;
  if (!isReleased) return released;
  const head = git('rev-parse', 'HEAD');
  const fork = git('merge-base', 'HEAD', 'origin/main') ?? git('merge-base', 'HEAD', 'main');
  const isBranch = fork !== null && fork !== head && git('merge-base', '--is-ancestor', released, fork) !== null;
  return isBranch ? fork : released;
}

/** Paths that are new or other than they were, whether they are committed or not. */
function changedSince(git: Git, base: string): readonly string[] {
  const tracked = git('diff', '--name-only', '--no-renames', '--diff-filter=d', base) ?? '';
  const untracked = git('ls-files', '--others', '--exclude-standard') ?? '';
  const removed = git('diff', '--name-only', '--no-renames', '--diff-filter=D', base, '--', 'packages') ?? '';
  return [tracked, untracked, removed].flatMap((text) => text.split('\n')).filter((path) => path !== '');
}

function refusal(sources: readonly string[], compared: string): string {
  const shown = sources.slice(0, 10).map((path) => `  ${path}`);
  const rest = sources.length > shown.length ? [`  and ${sources.length - shown.length} more`] : [];
  return [
    `Packages have changed without a changeset (${compared}):`,
    ...shown,
    ...rest,
    'Run `npm run changeset`, or `npm run changeset -- --empty` for a change that users do not notice.',
  ].join('\n');
}

/** Null where git fails, which also says no to questions. */
function runGit(cwd: string, args: readonly string[]): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: [...stdio], maxBuffer: 1 << 28 }).trim();
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const { ok, message } = judgeChangesets(join(import.meta.dirname, '..'));
  console.log(message);
  process.exitCode = ok ? 0 : 1;
}
