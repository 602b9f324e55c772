/** Items as the database stores them, in the forms of the API, regardless of the caller's permissions. */

import type { Transaction } from '../../database/database.ts';
import { runAs, type Side } from '../../database/row-context.ts';
import type { RowLock } from '../../dialects/index.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor } from '../../language/index.ts';
import { isSecret } from '../../language/types/index.ts';
import { createEmpty } from '../../language/values/bounded-cache.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { isList, parseExactly } from '../../language/values/parse-text.ts';
import { type Answer, type AnswerWriter, createAnswerWriter } from '../../query/answer.ts';
import { printPath } from '../../query/parse/keys.ts';
import type { ReadLimits, ReadRequest } from '../../query/parse/request.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { boundValues } from '../../query/plan/plan-bounds.ts';
import { ownColumns } from '../../query/plan/plan-returned.ts';
import { bind } from '../../query/planner.ts';
import { prepareRead } from '../../query/prepare.ts';
import type { Scope } from '../../sql/scope.ts';
import { keyFields } from '../../sql/scope.ts';
import { asMany, type Keys } from '../decode/keys.ts';
import { lockRows } from '../execute/lock-rows.ts';

/** One item: its key in the form of a path, and its fields by API names. */
export interface Image {
  readonly key: string;
  readonly item: FilterObject;
}

interface ImagedItems {
  readonly descriptor: CollectionDescriptor;
  readonly keys: Keys;
  readonly whole: boolean;
  readonly side: Side;
}

/** Images of items. `whole` false: nothing but their keys. */
export type Images = ReturnType<typeof createImages>;

interface ImagePlan {
  readonly plan: ReadPlan;
  readonly answer: AnswerWriter;
  parameters(keys: Keys): ReturnType<typeof bind>;
}

/** Makes the reader of images; `open` is the scope in which every name can be read. Each collection is planned once. */
export function createImages(open: Scope, limits: ReadLimits) {
  const plans = new Map<string, ImagePlan>();
  function planOf(descriptor: CollectionDescriptor, whole: boolean): ImagePlan {
    const id = JSON.stringify([descriptor.name, whole]);
    return findOrCreate(plans, id, () => planImages(open, limits, descriptor, whole));
  }
  return {
    /** The plan of such a read, for a write that returns the images itself. */
    plan: (descriptor: CollectionDescriptor, whole: boolean): ReadPlan => planOf(descriptor, whole).plan,
    /** Reads items by their keys, without those that are gone or hidden. With `lock` they are held still first. */
    async read(
      transaction: Transaction,
      { descriptor, keys, whole, side }: ImagedItems,
      lock?: RowLock,
    ): Promise<readonly Image[]> {
      const { plan, answer: result, parameters } = planOf(descriptor, whole);
      const rows = result();
      const read = lock && ownColumns(plan);
      if (lock !== undefined && read !== undefined) {
        await lockRows(transaction, open.dialect, { descriptor, keys, lock, side, read }, rows);
        return imagesOf(descriptor, rows);
      }
      const locked = lock && lockRows(transaction, open.dialect, { descriptor, keys, lock, side });
      await Promise.all([locked, transaction.run(runAs(plan.statement, side), parameters(keys), rows)]);
      return imagesOf(descriptor, rows);
    },
  };
}

export function imagesOf(descriptor: CollectionDescriptor, rows: Answer): readonly Image[] {
  return itemsOf(rows.end()).map((item) => ({ key: pathForm(descriptor, item), item }));
}

function planImages(open: Scope, limits: ReadLimits, descriptor: CollectionDescriptor, whole: boolean): ImagePlan {
  const stored = descriptor.fields.filter(({ type, computed }) => !isSecret(type) && computed === undefined);
  const fields = stored.map(({ name }) => name);
  const request: ReadRequest = {
    fields: (whole ? [...new Set([...descriptor.key, ...fields])] : descriptor.key).map((name) => [name]),
    filter: undefined,
    search: undefined,
    sort: [],
    limit: -1,
    offset: 0,
    meta: [],
    alias: new Map(),
    deep: new Map(),
  };
  const parts = descriptor.key.map(() => '');
  const { plan } = prepareRead(createEmpty(null), {
    scope: open,
    limits,
    selector: 'written',
    collection: descriptor.name,
    request,
    keys: () => ({ values: parts, count: parts.length }),
  });
  const bounds = boundValues(request);
  // Rows are a list for a singleton, too.
  const listed = { ...plan, many: true };
  const noCaller = { accessClass: '', user: null, role: null };
  return {
    plan: listed,
    answer: createAnswerWriter(listed),
    parameters: (keys) => bind(plan.binders, [...asMany(keys).values, ...bounds], noCaller),
  };
}

function itemsOf(result: Buffer): readonly FilterObject[] {
  const parsed = parseExactly(result.toString());
  const data = isObject(parsed) ? parsed.data : undefined;
  return isList(data) ? data.filter(isObject) : [];
}

/** The values of a key, percent-encoded and joined by commas (API specification, section 4). */
function pathForm(descriptor: CollectionDescriptor, item: FilterObject): string {
  const fields = keyFields(descriptor);
  return printPath(
    fields,
    fields.map(({ name }) => item[name] ?? null),
  );
}
