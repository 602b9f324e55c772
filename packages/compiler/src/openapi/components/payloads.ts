/** The components that describe payloads: those of each collection, and what relations make of them. */
import type { Lookup } from '../../cache/remember.ts';
import { nameWithout } from '../../role-view/names.ts';
import type {
  NestedItem,
  NestedWrite,
  RoleCollection,
  RoleKeyField,
  RolePayload,
  RoleView,
} from '../../role-view/role-view.ts';
import { anyOf, type JsonObject } from '../json.ts';
import { createPartsCache, type Parts } from '../parts.ts';
import { baseSchema, type InputOptions, inputSchema, keyed, payloadBase, upsertSchema } from './inputs.ts';
import { memberSchema, nameNestedList, nestedListSchema } from './nested-writes.ts';

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
