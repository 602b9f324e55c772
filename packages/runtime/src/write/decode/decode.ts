/** Payloads of one action against its closed input: nothing unknown, nothing dropped. Source: specification, sections 4 and 6. */
import { clientOf } from '../../environment/networks.ts';
import { forbidden } from '../../errors.ts';
import { missingValue, type Place, type Problems, placesIn } from '../../json/problems.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import { decodeValue, type FieldDescriptor, type JsonValue, systemCollection } from '../../language/index.ts';
import { isSecret, types } from '../../language/types/index.ts';
import { holdsHugeNumber } from '../../language/values/parse-text.ts';
import { refusePasswords } from '../../passwords/password-policy.ts';
import { createPasswords } from '../../passwords/passwords.ts';
import { pathKey } from '../../query/parse/keys.ts';
import { checkField, requiredBeside } from '../../system/fields/field-rules.ts';
import type { Granted, WritableCollection, WritableField, WriteGrant, WriteScope } from '../access/scope.ts';
import { filesName, untypedFile } from '../access/system-access.ts';
import type { WriteContext } from '../write-plan.ts';
import { type Batch, type BatchBuilder, type BatchColumn, createBatch } from './batch.ts';

/** Collection, permission and action that payloads are decoded against. */
interface Input {
  readonly scope: WriteScope;
  readonly writable: WritableCollection;
  readonly grant: WriteGrant;
  readonly action: 'create' | 'update';
}

/**
 * Decodes items into a batch; errors go to `problems`.
 *
 * Updates skip fields of the key: they name the item, if the caller may name them. `places` tells where in the body
 * each item stands, null when the body is the item.
 */
export function decodeItems(
  input: Input,
  items: readonly FilterObject[],
  places: readonly number[] | null,
  problems: Problems,
): Batch {
  const { descriptor } = input.writable.collection;
  const builder = createBatch(descriptor);
  const placeOf = placesIn(descriptor.name, places);
  for (const [item, payload] of items.entries()) decodeItem(input, item, payload, placeOf(item), builder, problems);
  const batch = builder.finish(items.length);
  if (input.action === 'create') requireFields(input, batch, placeOf, problems);
  return batch;
}

export function decodeItem(
  input: Input,
  item: number,
  payload: FilterObject,
  location: Place,
  builder: BatchBuilder,
  problems: Problems,
): void {
  const { collection, namesKey } = input.writable;
  const { key } = collection.descriptor;
  for (const [name, value] of Object.entries(payload)) {
    if (input.action === 'update' && namesKey && key.includes(name)) continue;
    const field = input.grant.fields.get(name);
    if (field === undefined) refuseName(input, name, location, problems);
    else decodeField(input, item, field, keyText(input, payload, name, value), location, builder, problems);
  }
}

/** The key of an item of another collection in the form in which a new row names it; every other value as it is. */
function keyText({ action, scope, writable }: Input, payload: FilterObject, name: string, value: JsonValue): JsonValue {
  const { descriptor } = writable.collection;
  const names = descriptor.system === true ? systemCollection(descriptor.name)?.names : undefined;
  if (names?.item !== name || action === 'update' || value === null || typeof value === 'string') return value;
  const target = scope.read.collections.get(String(payload[names.collection]));
  if (target === undefined) throw forbidden();
  return pathKey(target, value);
}

/** Hidden and unknown names answer the same. Only administrators learn that a field exists but cannot be written. */
function refuseName({ scope, writable, grant }: Input, name: string, location: Place, problems: Problems): void {
  const { fields, relations } = writable.collection;
  if (relations.has(name) && grant.listed.has(name))
    problems.refuse(location, name, 'is a relation and takes no payload');
  else if (scope.admin && fields.has(name)) problems.refuse(location, name, 'cannot be written');
  else problems.forbid(`${JSON.stringify(name)} of ${location.collection}`);
}

function decodeField(
  input: Input,
  item: number,
  field: WritableField,
  value: JsonValue,
  location: Place,
  builder: BatchBuilder,
  problems: Problems,
): void {
  const { descriptor } = field;
  const { name } = descriptor;
  const relation = input.writable.collection.relations.get(name)?.descriptor;
  if (relation !== undefined && isObject(value)) {
    problems.refuse(location, name, 'takes the key of an item');
    return;
  }
  // A caller who may read nothing of a collection knows none of its keys.
  if (relation !== undefined && value !== null && !input.scope.read.collections.has(relation.target)) problems.forbid();
  const decoded = decodeInput(descriptor, value, input.action === 'create');
  if (decoded.ok && 'unchanged' in decoded) return;
  const { collection } = input.writable;
  const wrong = decoded.ok
    ? checkField(collection.descriptor, name, decoded.value, input.scope.fieldLimits)
    : undefined;
  if (wrong !== undefined) problems.invalidate(location, name, wrong.type, wrong.message);
  const allowed = input.writable.links?.get(name);
  if (allowed !== undefined && decoded.ok && decoded.value !== null && !allowed.has(decoded.value))
    problems.refuse(location, name, 'must be a collection that the relation allows');
  if (decoded.ok) builder.set(item, field, decoded.value);
  else {
    // It is there, so it is not missing as well.
    builder.set(item, field, null);
    if ('type' in decoded) problems.invalidate(location, name, decoded.type, decoded.message);
    else problems.refuse(location, name, decoded.message);
  }
}

/** Requires fields that neither presets nor the database fill. A field that the caller may not write is not named. */
export function requireFields(
  { writable, grant }: Input,
  { count, columns }: Batch,
  placeOf: (item: number) => Place,
  problems: Problems,
): void {
  const { descriptor } = writable.collection;
  const byName = new Map(columns.map((column) => [column.field.descriptor.name, column]));
  /** The value that an item gives a field; undefined when it does not have it. */
  function columnText(item: number, name: string): string | null | undefined {
    const column = byName.get(name);
    const has = column !== undefined && (column.present === null || column.present[item] === true);
    return has ? (column.values[item] ?? null) : undefined;
  }
  function require(item: number, name: string): void {
    if (columnText(item, name) !== undefined || isPreset(grant, name)) return;
    const field = grant.fields.has(name) ? name : null;
    problems.invalidate(placeOf(item), field, 'required', missingValue(field));
  }
  const isFile = descriptor.name === filesName && descriptor.system === true;
  for (const field of descriptor.fields.filter(isRequired)) {
    for (let item = 0; item < count; item++) require(item, field.name);
  }
  for (let item = 0; item < count; item++) {
    for (const name of requiredBeside(descriptor, (other) => columnText(item, other))) require(item, name);
    // Where nothing else is wrong it is judged at the end, because a hook may fill it.
    if (isFile && problems.any() && (columnText(item, 'type') ?? null) === null && !isPreset(grant, 'type'))
      problems.refuse(placeOf(item), 'type', untypedFile);
  }
}

function isPreset({ rules }: WriteGrant, name: string): boolean {
  return rules.some(({ presets }) => presets.some(({ field }) => field === name));
}

function isRequired(field: FieldDescriptor): boolean {
  if (!field.writable) return false;
  return field.required === true || (!field.nullable && field.filled === undefined);
}

/** The text form of a value that is written. */
type DecodedValue =
  | { readonly ok: true; readonly value: string | null }
  /** The same secret again, which changes nothing. */
  | { readonly ok: true; readonly unchanged: true }
  /** Not a value of the type: INVALID_PAYLOAD. */
  | { readonly ok: false; readonly message: string }
  /** A value that the field does not take: FAILED_VALIDATION of that type. */
  | { readonly ok: false; readonly message: string; readonly type: string };

/** Text that a secret reads as; sent back, it means that the secret stays. */
const mask = '**********';

/** Decodes the value of a field as it came; `create` tells that there is no earlier value to keep. */
export function decodeInput(field: FieldDescriptor, value: JsonValue, create: boolean): DecodedValue {
  if (value === null) {
    // Rows have a number in any case; only items that are no rows have none.
    const allowed = field.nullable && field.required !== true && field.filled !== 'identity';
    return allowed ? { ok: true, value: null } : invalid('required', 'is required');
  }
  if (isSecret(field.type) && value === mask) {
    return create ? invalid('check', 'must not be the mask of a secret') : { ok: true, unchanged: true };
  }
  const decoded = decodeValue(field, value);
  if (!decoded.ok) return decoded.limit === undefined ? decoded : invalid(decoded.limit, decoded.message);
  if (decoded.value === null) return { ok: true, value: null };
  if (field.type === 'json' && holdsHugeNumber(value)) return { ok: false, message: 'holds a number out of range' };
  const broken = types[field.type].limit?.(field, decoded.value);
  return broken ? invalid(broken.type, broken.message) : { ok: true, value: decoded.value };
}

function invalid(type: string, message: string): DecodedValue {
  return { ok: false, type, message };
}

const { hash } = createPasswords();

/** The batch with the values of such fields hashed; the same batch when there are none. */
export function hashBatch(
  context: WriteContext,
  granted: Pick<Granted, 'writable'>,
  batch: Batch,
): Batch | Promise<Batch> {
  return batch.columns.some(isHashed) ? hashColumns(context, granted, batch) : batch;
}

async function hashColumns(
  context: WriteContext,
  { writable }: Pick<Granted, 'writable'>,
  batch: Batch,
): Promise<Batch> {
  const { name, system } = writable.collection.descriptor;
  const client = context.caller.user ?? clientOf(context.sender);
  if (system === true && name === 'platform_users') await checkPasswords(context, batch, client);
  const columns: BatchColumn[] = [];
  for (const column of batch.columns) columns.push(isHashed(column) ? await hashColumn(column, client) : column);
  return { ...batch, columns };
}

function isHashed({ field }: BatchColumn): boolean {
  return field.descriptor.type === 'hash';
}

/** One after the other: each keeps a core busy. */
async function hashColumn(column: BatchColumn, client: string): Promise<BatchColumn> {
  const values: (string | null)[] = [];
  for (const value of column.values) values.push(value === null ? null : await hash(value, client));
  return { ...column, values };
}

/** Checks new passwords against the minimum length, and the pattern of the settings. */
async function checkPasswords(
  { passwordPattern, scope }: WriteContext,
  { columns }: Batch,
  client: string,
): Promise<void> {
  const policy = { minLength: scope.fieldLimits.passwordMinLength, pattern: await passwordPattern() };
  const passwords = columns.filter(isHashed).flatMap(({ values }) => values.filter((value) => value !== null));
  const refused = await refusePasswords(passwords, policy, client);
  if (refused !== undefined) throw refused;
}
