/** Hooks that have a part in what a role writes. */
import type { Severity, Verdicts } from '../severity.ts';
import { type Concern, type Found, operationsIn, type Side } from '../side.ts';

/** One kind of hook that there is more or less often than before. */
interface Changed {
  readonly stage: string;
  readonly collection: string;
  readonly action: Exclude<Concern, 'all' | 'read'>;
  /** How many are new, less than none for those that are gone. */
  readonly more: number;
}

/** Compares the hooks of both versions, as `extensions.json` lists them, on what a role may write. */
export function compareHooks(
  was: Side,
  is: Side,
  before: readonly string[],
  after: readonly string[],
): readonly Found[] {
  const [old, fresh] = [countOf(before), countOf(after)];
  const names = [...new Set([...before, ...after])].sort();
  return names.flatMap((hook): readonly Found[] => {
    const changed = readHook(hook, (fresh.get(hook) ?? 0) - (old.get(hook) ?? 0));
    if (changed === null) return [];
    const { collection, action, more } = changed;
    const operations = operationsIn(more > 0 ? is : was, collection, action);
    // A role that cannot write it does not meet the hook.
    if (operations.length === 0) return [];
    const isCreate = (event: string): boolean => event.endsWith(` ${collection}.create`);
    const shown = action === 'create' && before.some(isCreate) !== after.some(isCreate);
    const verdicts = { ...verdictsOf(changed), ...(shown && documentOf(changed, was, is)) };
    const rule = more > 0 ? 'hook-added' : 'hook-removed';
    return [{ rule, subject: `hook ${hook}`, message: report(changed), operations, verdicts }];
  });
}

function countOf(hooks: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(hooks, (hook) => hook)].map(([hook, same]) => [hook, same.length]));
}

/** `before articles.create`; null where nothing has changed. */
function readHook(hook: string, more: number): Changed | null {
  const [, stage = '', collection = '', word] = /^(\w+) (.*)\.(\w+)$/.exec(hook) ?? [];
  const action = (['create', 'update', 'delete'] as const).find((candidate) => candidate === word);
  return action === undefined || more === 0 ? null : { stage, collection, action, more };
}

/** A hook after the commit neither refuses nor changes anything. */
function verdictsOf({ stage }: Changed): Verdicts {
  return { rest: stage === 'afterCommit' ? 'safe' : 'dangerous' };
}

/** Where a hook may fill what a new item needs, documents ask for nothing. */
function documentOf({ collection, more }: Changed, was: Side, is: Side): Verdicts {
  const create = (more > 0 ? was : is).collections.get(collection)?.writes?.create;
  if (create === undefined || create === null) return {};
  const openapi: Severity = more > 0 || create.required.length === 0 ? 'safe' : 'breaking';
  return { openapi };
}

const stages: Readonly<Record<string, string>> = { afterCommit: 'after the commit of' };

function report({ stage, collection, action, more }: Changed): string {
  const count = Math.abs(more);
  const hooks = `${count} ${count === 1 ? 'hook' : 'hooks'} ${more > 0 ? 'more' : 'less'}`;
  return `"${collection}" has ${hooks} ${stages[stage] ?? stage} ${action}.`;
}
