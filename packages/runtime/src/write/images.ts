/** Items as they stand in the database, in the forms of the API, whatever the caller may read of them. */
import { type FilterObject, isObject } from '../contract/filter-syntax.ts';
import type { CollectionDescriptor, JsonValue } from '../contract/index.ts';
import { isSecret } from '../contract/operators.ts';
import type { Statement, Transaction } from '../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import { parseExactly } from '../json/exact-numbers.ts';
import type { ReadLimits, ReadRequest } from '../query/parse-read.ts';
import type { ReadPlan } from '../query/plan.ts';
import { boundValues } from '../query/plan-bounds.ts';
import { createPlanCache } from '../query/plan-cache.ts';
import { bind } from '../query/planner.ts';
import { prepareRead } from '../query/prepare.ts';
import type { Scope } from '../query/scope.ts';
import { asMany, type Keys } from './keys.ts';

/** One item: its key in the form of a path, and its fields by API names. */
export interface Image {
  readonly key: string;
  readonly item: FilterObject;
}

/** Reads items by their keys; those that are not there are left out. `whole` false: nothing but their keys. */
export type ReadImages = (
  transaction: Transaction,
  descriptor: CollectionDescriptor,
  keys: Keys,
  whole: boolean,
) => Promise<readonly Image[]>;

interface ImagePlan {
  readonly statement: Statement;
  readonly answer: AnswerWriter;
  parameters(keys: Keys): ReturnType<typeof bind>;
}

/** Makes the reader of images; `open` is the scope in which every name can be read. Each collection is planned once. */
export function createImages(open: Scope, limits: ReadLimits): ReadImages {
  const plans = new Map<string, ImagePlan>();
  return async function readImages(transaction, descriptor, keys, whole) {
    const id = JSON.stringify([descriptor.name, whole]);
    const plan = plans.get(id) ?? planImages(open, limits, descriptor, whole);
    plans.set(id, plan);
    const rows = plan.answer();
    await transaction.run(plan.statement, plan.parameters(keys), rows);
    return itemsOf(rows.end()).map((item) => ({ key: pathForm(descriptor, item), item }));
  };
}

function planImages(open: Scope, limits: ReadLimits, descriptor: CollectionDescriptor, whole: boolean): ImagePlan {
  const fields = descriptor.fields.filter(({ type }) => !isSecret(type)).map(({ name }) => name);
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
  const { plan } = prepareRead(createPlanCache<ReadPlan>(1), {
    scope: open,
    limits,
    selector: 'written',
    collection: descriptor.name,
    request,
    keys: () => ({ values: parts, count: parts.length }),
  });
  const bounds = boundValues(request);
  // Of a singleton, too, the rows are a list.
  const answer = createAnswerWriter({ ...plan, many: true });
  const nobody = { accessClass: '', user: null, role: null };
  return {
    statement: plan.statement,
    answer,
    parameters: (keys) => bind(plan.binders, [...asMany(keys).values, ...bounds], nobody),
  };
}

function itemsOf(answer: Buffer): readonly FilterObject[] {
  const parsed = parseExactly(answer.toString());
  const data = isObject(parsed) ? parsed.data : undefined;
  return isList(data) ? data.filter(isObject) : [];
}

/** The values of a key, percent-encoded and joined by commas (API specification, section 4). */
function pathForm({ key }: CollectionDescriptor, item: FilterObject): string {
  return key.map((name) => encodeURIComponent(textOf(item[name] ?? ''))).join(',');
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
