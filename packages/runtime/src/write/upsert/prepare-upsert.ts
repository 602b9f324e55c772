/**
 * POST on a collection. With `on_conflict`, items that there are by a unique key are changed, and others made. Source:
 * decision 14.
 */
import type { FilterObject } from '../../contract/filter-syntax.ts';
import type { JsonValue } from '../../contract/index.ts';
import { ServerError } from '../../database/errors.ts';
import { PlatformError } from '../../errors.ts';
import type { CollectionScope } from '../../query/scope.ts';
import { type Desk, echoOf, type Job, writableOf } from '../job.ts';
import { checkOwnKey, oneKey } from '../keys.ts';
import { parseCreate } from '../parse-body.ts';
import { createGrant, prepareCreate } from '../prepare-create.ts';
import { updateGrant } from '../prepare-update.ts';
import { createProblems } from '../problems.ts';
import type { WritableCollection, WriteScope } from '../scope.ts';
import type { KeyTexts } from '../tree/group.ts';
import type { Entry } from '../tree/lead.ts';
import { runTree } from '../tree/prepare-tree.ts';
import type { Touched } from '../violation.ts';
import { type Conflict, mayHaveConflict, parseConflict, resolveConflict } from './conflict.ts';
import { findStored } from './find-stored.ts';
import { readSought, type Sought } from './sought.ts';

/** Prepares a POST. Throws for everything that is wrong with the request itself. */
export async function preparePost(desk: Desk, body: JsonValue | undefined): Promise<Job> {
  if (!mayHaveConflict(desk.query)) return prepareCreate(desk, body);
  const { many, items } = parseCreate(body, desk.mostItems);
  const names = parseConflict(desk.query, desk.limits);
  return names === null ? prepareCreate(desk, body) : prepareUpsert(desk, many, items, names);
}

function prepareUpsert(desk: Desk, many: boolean, items: readonly FilterObject[], names: readonly string[]): Job {
  const echo = echoOf(desk, many ? 'many' : 'one');
  const writable = writableOf(desk);
  updateGrant(desk, writable);
  const conflict = resolveConflict(desk, createGrant(desk, writable), names);
  const problems = createProblems();
  const sought = readSought(writable.collection, conflict, items, many, problems);
  problems.raise();
  const touched = [touchedBy(desk, writable, items)];
  if (items.length === 0) return { echo, touched, work: async () => null };
  return {
    echo,
    touched,
    overtaken: (error) => isOvertaken(desk.scope, conflict, error),
    async work(running) {
      const stored = await findStored(running, desk.scope, conflict, sought);
      const entries = sought.map((one, index) => entryOf(writable.collection, conflict, one, stored.get(index)));
      return runTree(desk, writable, entries, many, running);
    },
  };
}

/** What names an item changes nothing of it. */
function entryOf(
  collection: CollectionScope,
  { fields }: Conflict,
  { item, place }: Sought,
  key: KeyTexts | undefined,
): Entry {
  if (key === undefined) return { form: 'create', given: null, payload: item, place };
  const naming = new Set(fields.map(({ field }) => field.descriptor.name));
  const payload = Object.fromEntries(Object.entries(item).filter(([name]) => !naming.has(name)));
  checkOwnKey(collection, payload, oneKey(key));
  return { form: 'update', given: key, payload, place };
}

/** Whether an item came to be that was not there when it was looked for: by the key itself, or that of a partition. */
function isOvertaken({ open }: WriteScope, { constraints }: Conflict, error: unknown): boolean {
  if (!(error instanceof PlatformError) || !(error.cause instanceof ServerError)) return false;
  const { sqlstate, about } = error.cause;
  if (sqlstate !== '23505' || about.constraint === undefined) return false;
  if (constraints.has(about.constraint)) return true;
  const known = [...open.collections.values()].flatMap(({ descriptor }) => descriptor.constraints ?? []);
  return !known.some(({ name }) => name === about.constraint);
}

function touchedBy({ scope }: Desk, writable: WritableCollection, items: readonly FilterObject[]): Touched {
  return {
    scope,
    collection: writable.collection,
    names: new Set(items.flatMap((item) => Object.keys(item))),
    writable: new Set([...(writable.create?.fields.keys() ?? []), ...(writable.update?.fields.keys() ?? [])]),
  };
}
