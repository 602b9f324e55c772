/** Links that had to wait until the items they lead to were made: written last, by what was judged of them already. */
import { PlatformError } from '../../errors.ts';
import type { WriteScope } from '../access/scope.ts';
import type { Running } from '../execute/running.ts';
import { explainViolation } from '../execute/violation.ts';
import type { Group } from './parse/group.ts';
import { keysOfRows } from './removal.ts';
import { ask, columnInput, inputRows, keyEqual, keyInput, startQuestion } from './resolve/stored.ts';
import type { LaterLink } from './writing.ts';

/** Writes links: one statement for each field of each group. */
export async function linkLater(running: Running, scope: WriteScope, links: readonly LaterLink[]): Promise<void> {
  for (const [group, groupLinks] of Map.groupBy(links, (link) => link.group)) {
    for (const [field, some] of Map.groupBy(groupLinks, (link) => link.field))
      await linkField(running, scope, group, field, some);
  }
}

async function linkField(
  running: Running,
  scope: WriteScope,
  { writable, path }: Group,
  name: string,
  links: readonly LaterLink[],
): Promise<void> {
  const { collection } = writable;
  const { descriptor } = collection;
  const field = descriptor.fields.find((candidate) => candidate.name === name);
  if (field === undefined) return;
  const rows = links.map(({ key }) => key);
  const { dialect } = running;
  const question = startQuestion(dialect);
  const values = columnInput(
    collection,
    [field.column],
    links.map(({ value }) => [value]),
    'f',
  );
  const input = inputRows(question, [...keyInput(collection, rows), ...values], 'i');
  const update = dialect.input.update(
    question.statement.change(descriptor.table, 'update'),
    field.column,
    dialect.input.kept('i.f0', field),
    input,
    keyEqual(dialect, collection, 't', 'i'),
  );
  const keys = keysOfRows(rows);
  const watch = running.history?.watch('update', descriptor.name, keys) ?? null;
  try {
    const asking = ask(running, question, update);
    watch?.follow();
    const result = await asking;
    if (Number(result[dialect.input.updated]) !== rows.length) throw new PlatformError('FORBIDDEN');
    await watch?.resolve(keys, rows.length);
  } catch (error) {
    const affected = { scope, collection, names: new Set([name]), writable: new Set([name]) };
    throw explainViolation(error, [{ ...affected, ...(path !== '' && { path }) }]);
  }
}
