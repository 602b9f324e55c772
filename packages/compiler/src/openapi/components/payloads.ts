/** The components that describe payloads: those of each collection, and what relations make of them. */
import type { Lookup } from '../../cache/memo-cache.ts';
import { createFactsOfTwo, isSame } from '../../cache/same.ts';
import { keepText } from '../../print/json.ts';
import { nameWithout } from '../../role-view/names.ts';
import type {
  NestedItem,
  NestedWrite,
  RoleCollection,
  RoleInput,
  RoleKeyField,
  RolePayload,
  RoleUpsert,
  RoleView,
} from '../../role-view/role-view.ts';
import {
  about,
  anyObject,
  anyOf,
  createPartsCache,
  described,
  type JsonObject,
  objectOf,
  type Parts,
  reference,
} from '../json.ts';
import { memberObjects, memberSchema, nameNestedList, nestedListSchema, nestedWriteSchema } from './nested-writes.ts';
import { aboutValue, briefSchema, orNull, scalarInput, type Valued } from './values.ts';

type Component = readonly [string, JsonObject];

/** Schemas that bodies on the paths of a collection refer to. */
export function payloadSchemas(collection: RoleCollection): readonly Component[] {
  const { names, writes, hooked } = collection;
  const { key = [], create = null, update = null, upsert = null } = writes ?? {};
  const changes = update && key.length > 0 ? update : null;
  const base = payloadBase(collection);
  return [
    ...(base ? [[base.component, baseSchema(base)] as const] : []),
    ...(create ? [[names.create, createSchema(create, { hooked, base })] as const] : []),
    ...(update ? [[names.update, inputSchema(update, { base })] as const] : []),
    ...(changes ? [[names.change, changeSchema(key, changes, { base })] as const] : []),
    ...(upsert ? [[names.upsert, upsertSchema(upsert, base)] as const] : []),
  ];
}

/** Schemas that relations of payloads refer to: payloads without the fields that a relation sets, and links. */
export function nestedWriteSchemas({ collections }: RoleView, asText: boolean): Parts {
  const byItem = new Map(collections.map((collection) => [collection.names.item, collection]));
  const found = collections.flatMap((collection) =>
    componentsOf(collection, [byItem], asText, (watch) => ownNestedWrites(collection, watch(byItem))),
  );
  return [...new Map(found)];
}

const componentsOf = createPartsCache(6, false);

function ownNestedWrites({ writes }: RoleCollection, byItem: Lookup<RoleCollection>): readonly Component[] {
  const nestedWrites = [...(writes?.create?.nestedWrites ?? []), ...(writes?.update?.nestedWrites ?? [])];
  return nestedWrites.flatMap((nested): readonly Component[] => {
    if (nested.kind === 'one') return [];
    if (nested.kind === 'many') {
      const shared = nameNestedList(nested);
      return [
        ...variants(nested.member, byItem.get(nested.member.names.item)),
        ...(shared === null ? [] : [[shared, nestedListSchema(nested)] as const]),
      ];
    }
    const links = byItem.get(nested.link.names.item);
    return links === undefined ? [] : [[nested.component, linkSchema(nested, links)]];
  });
}

function variants(
  { names, owned, create, update }: NestedItem,
  target: RoleCollection | undefined,
): readonly Component[] {
  const { writes = null, key = [] } = target ?? {};
  const made = create && owned.create.length > 0 ? writes?.create : null;
  const changed = update && owned.change.length > 0 ? writes?.update : null;
  const base = target === undefined ? null : payloadBase(target);
  const hooked = target?.hooked === true;
  return [
    ...(made
      ? [
          [
            nameWithout(names.create, owned.create),
            createSchema(made, { hooked, base, without: owned.create }),
          ] as const,
        ]
      : []),
    ...(changed
      ? [
          [
            nameWithout(names.change, owned.change),
            changeSchema(key, changed, { base, without: owned.change }),
          ] as const,
        ]
      : []),
  ];
}

type Options = Omit<InputOptions, 'description'>;

/** Hooks may fill what is missing, so then nothing is said to be required. */
function createSchema(create: RolePayload, { hooked, ...options }: Options & { readonly hooked: boolean }): JsonObject {
  if (!hooked) return inputSchema(create, options);
  const description = 'Code of the project may fill what is missing.';
  return inputSchema(create, { ...options, description, without: create.fields.map(({ name }) => name) });
}

function changeSchema(key: readonly RoleKeyField[], update: RolePayload, options: Options): JsonObject {
  return inputSchema(keyed(key, update), options);
}

/** A link that is made has a collection and an item; one that is changed, and has its key, need not. */
function linkSchema(nested: Extract<NestedWrite, { kind: 'any' }>, { writes, key }: RoleCollection): JsonObject {
  const { link, targets } = nested;
  const create = link.create ? (writes?.create ?? null) : null;
  const update = link.update ? (writes?.update ?? null) : null;
  const changed = update && keyed(key, without(update, nested));
  const forms = targets.flatMap(({ collection, member }) => [
    ...(create ? [withItem(without(create, nested), collection, member)] : []),
    ...(changed ? [withItem(changed, collection, member)] : []),
  ]);
  return anyOf(...forms, ...(changed ? [inputSchema(changed)] : []));
}

function without(
  { fields, required, nestedWrites }: RolePayload,
  { named }: Extract<NestedWrite, { kind: 'any' }>,
): RolePayload {
  return {
    fields: fields.filter(({ name }) => !named.includes(name)),
    required: required.filter((name) => !named.includes(name)),
    nestedWrites,
  };
}

function withItem(payload: RolePayload, collection: string, member: NestedItem): JsonObject {
  const { properties, required, ...schema } = inputSchema(payload);
  const fixed = { collection: { type: 'string', enum: [collection] }, item: memberSchema(member) };
  const others = Array.isArray(required) ? required : [];
  const named = typeof properties === 'object' && properties !== null ? { ...properties } : {};
  return { ...schema, properties: { ...named, ...fixed }, required: [...others, 'collection', 'item'] };
}

/** Members that payloads of a collection have in common, which a component of their own describes. */
interface PayloadBase extends Pick<RolePayload, 'fields' | 'nestedWrites'> {
  readonly component: string;
}

/** Finds the members that payloads of new items and of changes have in common; null where there are none. */
function payloadBase({ names, writes }: Pick<RoleCollection, 'names' | 'writes'>): PayloadBase | null {
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
function baseSchema({ fields, nestedWrites }: PayloadBase): JsonObject {
  return { type: 'object', properties: inputProperties(fields, nestedWrites) };
}

interface InputOptions {
  /** Default: none. */
  readonly description?: string | null;
  /** Members that need not be there, though they are required. Default: none. */
  readonly without?: readonly string[];
  /** Members that the component of the base describes. Default: the payload describes all of its own. */
  readonly base?: PayloadBase | null;
}

/** Describes a payload: exactly these names. */
function inputSchema(
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

function keyed(key: readonly RoleKeyField[], { fields, required, nestedWrites }: RolePayload): RolePayload {
  const names = key.map(({ name }) => name);
  const parts = key.map((part): RoleInput => ({ ...part, nullable: false, member: null }));
  const others = fields.filter(({ name }) => !names.includes(name));
  const needed = required.filter((name) => !names.includes(name));
  return { fields: [...parts, ...others], required: [...names, ...needed], nestedWrites };
}

/** Describes a payload that makes an item, or changes the one that has the same values in one of the unique keys. */
function upsertSchema(upsert: RoleUpsert, base: PayloadBase | null): JsonObject {
  const schema = inputSchema(upsert, { base });
  const { needed } = upsert;
  if (needed.some((key) => key.length === 0)) return schema;
  const [only, ...more] = needed.map((required) => ({ required }));
  if (only === undefined || more.length === 0) return { ...schema, ...only };
  // Within `allOf`: generators of types take an `anyOf` beside it for other forms of the whole, which are any value.
  const { allOf = [] } = schema;
  return { ...schema, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: [only, ...more] }] };
}

/** A text is the key in the form of a path. An object has the fields of the key, or is its value. */
const anyKey: JsonObject = {
  anyOf: [{ type: 'string' }, { type: 'number' }, anyObject(), { type: 'array', items: {} }],
};

/** Describes a field of a payload; a many-to-one also takes an item in the place of its key. */
function fieldSchema({ descriptor, values, nullable, note, member, itemKey }: RoleInput): JsonObject {
  const taken = itemKey ? anyKey : takenSchema(descriptor, values);
  if (member === null) return aboutValue(nullable ? orNull(taken) : taken, note, null);
  const schema = { anyOf: [briefSchema(taken), ...memberObjects(member)] };
  return about(nullable ? orNull(schema) : schema, note, null);
}

function takenSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.type !== 'array') return scalarInput(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: { anyOf: [orNull(scalarInput(item, values)), reference('schemas', 'Dimension')] } };
}
