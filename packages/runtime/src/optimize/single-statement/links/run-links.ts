/** Replacing the links of stored items, those of several requests by one statement where they share a transaction. */
import { inBatches } from '../../../batches.ts';
import type { Transaction } from '../../../database/database.ts';
import { runAs } from '../../../database/row-security/row-context.ts';
import { PlatformError } from '../../../errors.ts';
import { int32 } from '../../../json/bytes.ts';
import { arrayLiteral } from '../../../language/index.ts';
import type { Answer } from '../../../query/answer.ts';
import { bind } from '../../../query/planner.ts';
import type { Keys } from '../../../write/decode/keys.ts';
import { skip } from '../../../write/execute/run.ts';
import { valuesOf, type WriteValues } from '../../../write/plan/inputs.ts';
import { joinBatches, shareWork } from '../sharing.ts';
import type { ChangeLinks, LinksChange, LinksPlan } from './links-plan.ts';

/** Plan as `run` takes it. */
type Planned = Omit<LinksPlan, 'change'>;

/** How the changes of a plan are made. */
export function changeLinks(plan: Planned): ChangeLinks {
  const create = shareWork<LinksChange, Answer>(async (transaction, changes) => {
    // Sent at once: a change of an item that another one has changed sees what that has left.
    const batches = await Promise.all(
      apart(plan, changes).map(async (together) => {
        const answers = await run(transaction, plan, together);
        return together.map((change, index) => [change, answers[index]] as const);
      }),
    );
    const all = new Map(batches.flat());
    return changes.map((change) => all.get(change) ?? refuse());
  });
  // A statement that takes values of the caller is shared only by requests of that caller.
  const isOwn = plan.binders.some(({ kind }) => kind === 'caller');
  return (transaction, change) => {
    const { user, role } = change.caller;
    return create(transaction, isOwn ? JSON.stringify([user, role]) : '', change);
  };
}

/** Changes in rounds in which no item comes twice. */
function apart({ isBatch: batch }: Planned, changes: readonly LinksChange[]): readonly (readonly LinksChange[])[] {
  return batch ? inBatches(changes, ({ key }) => key.join()) : changes.map((change) => [change]);
}

async function run(
  transaction: Transaction,
  { hold, statement, binders, sources, checks, answer: result }: Planned,
  changes: readonly LinksChange[],
): Promise<readonly (Answer | undefined)[]> {
  const [first] = changes;
  if (first === undefined) return [];
  const values = joinChanges(changes, sources.length);
  const parameters = sources.flatMap((groupSources, index) => valuesOf(groupSources, values[index] ?? noItems));
  const answers: (Answer | undefined)[] = changes.map(() => undefined);
  const keys = valuesOf(hold.sources, values[0] ?? noItems);
  const held = transaction.run(runAs(hold.statement, first.caller), bind(hold.binders, keys, first.caller), noRows);
  const changed = transaction.run(runAs(statement, first.caller), bind(binders, parameters, first.caller), {
    row(buffer, offset, length) {
      let position = skip(buffer, offset);
      transaction.identify(buffer.toString('latin1', offset + 4, position));
      // The position is a 64-bit integer, but never so large that its upper half matters.
      const index = int32(buffer, position + 8) - 1;
      position = skip(buffer, position);
      let passed = true;
      for (let check = 0; check < checks; check++) {
        if (int32(buffer, position) >= 0) passed = false;
        position = skip(buffer, position);
      }
      if (!passed) return;
      const rows = result();
      // The flag that the caller may read the row is a boolean, and never null.
      if (buffer[position + 4] === 1) {
        rows.row(buffer, position + 5, length - (position + 5 - offset));
        rows.end();
      }
      answers[index] = rows;
    },
  });
  await Promise.all([held, changed]);
  return answers;
}

/** Joins the parameters of the changes: for the items, then for each relation. */
function joinChanges(changes: readonly LinksChange[], count: number): readonly WriteValues[] {
  return Array.from({ length: count }, (_, index) => {
    const batches = changes.flatMap(({ batches: parts }) => parts[index] ?? []);
    const items = { batch: joinBatches(batches), matched: nothing };
    if (index === 0) return { ...items, keys: keysOf(changes) };
    const places = batches.flatMap((batch, position) => Array.from({ length: batch.count }, () => position + 1));
    return { ...items, keys: null, places: [places] };
  });
}

function keysOf(changes: readonly LinksChange[]): Keys {
  const parts = changes[0]?.key ?? [];
  const values = parts.map((_, part) => arrayLiteral(changes.map(({ key }) => key[part] ?? null)));
  return { count: changes.length, many: true, values };
}

function refuse(): never {
  throw new PlatformError('FORBIDDEN');
}

const nothing: ReadonlyMap<number, string> = new Map();
const noItems: WriteValues = { batch: { count: 0, columns: [] }, keys: null, matched: nothing };
const noRows = { row: () => {} };
