/** The components that describe what a payload takes. Source: API specification, section 6 ("Input"). */
import { createFactsOfTwo, isSame } from '../../cache/same.ts';
import { keepText } from '../../print/only-text.ts';
import type {
  NestedWrite,
  RoleCollection,
  RoleInput,
  RoleKeyField,
  RolePayload,
  RoleUpsert,
} from '../../role-view/role-view.ts';
import { about, described, type JsonObject, objectOf, reference } from '../json.ts';
import { memberObjects, nestedWriteSchema } from './nested-writes.ts';
import { orNull, scalarInput, type Valued } from './values.ts';

/** Members that payloads of a collection have in common, which a component of their own describes. */
export interface PayloadBase extends Pick<RolePayload, 'fields' | 'nestedWrites'> {
  readonly component: string;
}

/** Finds the members that payloads of new items and of changes have in common; null where there are none. */
export function payloadBase({ names, writes }: Pick<RoleCollection, 'names' | 'writes'>): PayloadBase | null {
  const { create = null, update = null } = writes ?? {};
  if (create === null || update === null) return null;
  const fields = common(create.fields, update.fields);
  const nestedWrites = common(create.nestedWrites, update.nestedWrites);
  return fields.length + nestedWrites.length === 0 ? null : { component: names.payload, fields, nestedWrites };
}

function common<Member extends { readonly name: string }>(
  first: readonly Member[],
  second: readonly Member[],
): readonly Member[] {
  if (first === second) return first;
  const others = new Map(second.map((member) => [member.name, member]));
  return first.filter((member) => isSame(member, others.get(member.name)));
}

/** Describes the common members, to which each payload adds its own. */
export function baseSchema({ fields, nestedWrites }: PayloadBase): JsonObject {
  return { type: 'object', properties: inputProperties(fields, nestedWrites) };
}

/** How a payload is described. */
export interface InputOptions {
  /** Default: none. */
  readonly description?: string | null;
  /** Members that need not be there, though they are required. Default: none. */
  readonly without?: readonly string[];
  /** Members that the component of the base describes. Default: the payload describes all of its own. */
  readonly base?: PayloadBase | null;
}

/** Describes a payload: exactly these names. */
export function inputSchema(
  { fields, required, nestedWrites }: RolePayload,
  { description = null, without = [], base = null }: InputOptions = {},
): JsonObject {
  const settable = new Set([
    ...without,
    ...nestedWrites.flatMap((nested) => (nested.kind === 'one' ? nested.holders : [])),
  ]);
  const needed = required.filter((name) => !settable.has(name));
  const requiring = needed.length > 0 && { required: needed };
  if (base === null) {
    const properties = propertiesOf(fields, nestedWrites, () => keepText(inputProperties(fields, nestedWrites)));
    return { type: 'object', ...described(description), properties, ...requiring, additionalProperties: false };
  }
  const ownProperties = inputProperties(beside(fields, base.fields), beside(nestedWrites, base.nestedWrites));
  return {
    ...{ type: 'object', ...described(description), allOf: [reference('schemas', base.component)] },
    ...(Object.keys(ownProperties).length > 0 && { properties: ownProperties }),
    ...requiring,
    unevaluatedProperties: false,
  };
}

function beside<Member extends { readonly name: string }>(
  members: readonly Member[],
  base: readonly Member[],
): readonly Member[] {
  if (members === base) return [];
  const inBase = new Map(base.map((member) => [member.name, member]));
  return members.filter((member) => !isSame(member, inBase.get(member.name)));
}

/** Creating and updating mostly take the same, by the same lists. */
const propertiesOf = createFactsOfTwo<readonly RoleInput[], readonly NestedWrite[], JsonObject>();

function inputProperties(fields: readonly RoleInput[], nestedWrites: readonly NestedWrite[]): JsonObject {
  return objectOf([
    ...fields.map((field) => [field.name, fieldSchema(field)] as const),
    ...nestedWrites.map((nested) => [nested.name, nestedWriteSchema(nested)] as const),
  ]);
}

/** A payload with the key of the item that it is for. */
export function keyed(key: readonly RoleKeyField[], { fields, required, nestedWrites }: RolePayload): RolePayload {
  const names = key.map(({ name }) => name);
  const parts = key.map((part): RoleInput => ({ ...part, nullable: false, member: null }));
  const others = fields.filter(({ name }) => !names.includes(name));
  const needed = required.filter((name) => !names.includes(name));
  return { fields: [...parts, ...others], required: [...names, ...needed], nestedWrites };
}

/** Describes a payload that makes an item, or changes the one that has the same values in one of the unique keys. */
export function upsertSchema(upsert: RoleUpsert, base: PayloadBase | null): JsonObject {
  const schema = inputSchema(upsert, { base });
  const { needed } = upsert;
  if (needed.some((key) => key.length === 0)) return schema;
  const [only, ...more] = needed.map((required) => ({ required }));
  return more.length === 0 ? { ...schema, ...only } : { ...schema, anyOf: [...(only ? [only] : []), ...more] };
}

/** Describes a field of a payload; a many-to-one also takes an item in the place of its key. */
export function fieldSchema({ descriptor, values, nullable, note, member }: RoleInput): JsonObject {
  const taken = takenSchema(descriptor, values);
  const schema = member === null ? taken : { anyOf: [taken, ...memberObjects(member)] };
  return about(nullable ? orNull(schema) : schema, note, null);
}

function takenSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.type !== 'array') return scalarInput(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: orNull(scalarInput(item, values)) };
}
