/** Payload types of a collection. `nested-writes.ts` and `payloads.ts` of `openapi/components` print the same facts. */
import { findOrCreate } from '@tablewright/runtime/language';
import {
  type DeclaredMember,
  declareInterface,
  member as needed,
  optional,
  type TypeDeclaration,
} from '../print/declarations.ts';
import { shortened } from '../print/identifier.ts';
import { stringLiteral } from '../print/text.ts';
import { generic, list, nullable, type Type, union } from '../print/type.ts';
import type { NestedItem, NestedWrite, RoleInput, RolePayload } from '../role-view/role-view.ts';
import type { ClientCollection, Referables } from './client-collections.ts';
import { literals, takenType } from './values.ts';

/** The types of payloads, as far as the class writes anything. */
export function declarePayloads(collection: ClientCollection, collections: Referables): readonly TypeDeclaration[] {
  const { view, names } = collection;
  const { create = null, update = null } = view.writes ?? {};
  const cached: KnownMembers = new Map();
  // Hooks may fill what is missing, so then nothing is needed.
  const created =
    create === null ? [] : membersOf(view.hooked ? { ...create, required: [] } : create, collections, cached);
  const note = `Payload of a new item of \`${view.name}\`${view.hooked ? ', which code of the project may complete' : ''}.`;
  const updated = update === null ? [] : membersOf(update, collections, cached);
  return [
    ...linkAliases([create, update], collections),
    ...(create === null ? [] : [declareInterface(names.create, note, created)]),
    ...(update === null ? [] : [declareInterface(names.update, `Changes of an item of \`${view.name}\`.`, updated)]),
    ...(update === null || view.key.length === 0
      ? []
      : [
          declareInterface(
            names.change,
            `Changes of the item of \`${view.name}\` that has the key.`,
            keyed(collection, updated),
          ),
        ]),
  ];
}

/** Members that need not be there, of what payloads have in common. */
type KnownMembers = Map<RoleInput | NestedWrite, DeclaredMember>;

/** The objects that links of many-to-any relations may be, the same in every payload. */
function linkAliases(payloads: readonly (RolePayload | null)[], collections: Referables): readonly TypeDeclaration[] {
  const nestedWrites = payloads
    .flatMap((payload) => payload?.nestedWrites ?? [])
    .filter((nested) => nested.kind === 'any');
  return [...new Map(nestedWrites.map((nested) => [linkName(nested), nested]))].flatMap(([name, nested]) => {
    const objects = linkObjects(nested, collections);
    const type = union(...objects.create, ...objects.update);
    return objects.create.length + objects.update.length === 0
      ? []
      : [{ kind: 'alias', name, notes: [`A link of \`${nested.name}\` with its item.`], type } as const];
  });
}

function linkName({ component }: AnyNestedWrite): string {
  return shortened(component, component);
}

function membersOf(
  { fields, required, nestedWrites }: RolePayload,
  collections: Referables,
  cached: KnownMembers,
): readonly DeclaredMember[] {
  const held = new Set(nestedWrites.flatMap((nested) => (nested.kind === 'one' ? nested.holders : [])));
  const members = fields.map((field) => {
    const isNeeded = required.includes(field.name) && !held.has(field.name);
    return isNeeded
      ? fieldMember(field, collections, needed)
      : findOrCreate(cached, field, () => fieldMember(field, collections, optional));
  });
  return [
    ...members,
    ...nestedWrites.map((nested) =>
      findOrCreate(cached, nested, () => optional(nested.name, nestedWriteType(nested, collections))),
    ),
  ];
}

function keyed({ view }: ClientCollection, changes: readonly DeclaredMember[]): readonly DeclaredMember[] {
  const names = new Set(view.key.map(({ name }) => name));
  const key = view.key.map((field) =>
    needed(field.name, takenType(field.descriptor, field.values, field.valuesType?.name), [field.note]),
  );
  return [...key, ...changes.filter(({ name }) => !names.has(name))];
}

function fieldMember(field: RoleInput, collections: Referables, declare: typeof optional): DeclaredMember {
  const { name, note, deprecated, descriptor, values, valuesType, member, itemKey } = field;
  const plain = takenType(itemKey ? { ...descriptor, type: 'json' } : descriptor, values, valuesType?.name);
  const type = member === null ? plain : union(plain, ...objectsOf(member, collections));
  return declare(name, field.nullable ? nullable(type) : type, [note], deprecated);
}

/** The items that may stand in the place of a key: a new one, or changes of the one that has the key in it. */
function objectsOf(member: NestedItem, collections: Referables): readonly Type[] {
  return [
    ...(member.create ? [made(member, collections)] : []),
    ...(member.update ? [changed(member, collections)] : []),
  ];
}

function made({ names, owned }: NestedItem, collections: Referables): Type {
  const target = collections.get(names.collection);
  return printPayload(target?.names.create ?? 'never', owned.create, target?.view.writes?.create);
}

function changed({ names, owned }: NestedItem, collections: Referables): Type {
  const target = collections.get(names.collection);
  const key = target?.view.key.map((field) => field.name) ?? [];
  return printPayload(target?.names.change ?? 'never', owned.change, target?.view.writes?.update, key);
}

/** A payload some of whose fields the relation sets. */
function printPayload(
  name: string,
  owned: readonly string[],
  payload: RolePayload | null | undefined,
  key: readonly string[] = [],
): Type {
  if (owned.length === 0) return name;
  const names = new Set([...key, ...(payload?.fields ?? []).map((field) => field.name)]);
  const set = owned.filter((field) => names.has(field));
  return set.length === 0 ? name : generic('Given', name, literals(set));
}

function keysOf(member: NestedItem, collections: Referables): readonly Type[] {
  const key = member.links ? keyType(member, collections) : null;
  return key === null ? [] : [key];
}

/** The key of an item in a list; null where it cannot be named. */
function keyType({ names }: NestedItem, collections: Referables): Type | null {
  const key = collections.get(names.collection)?.view.key ?? [];
  const first = key[0];
  if (first === undefined) return null;
  return key.length > 1 ? 'string' : takenType(first.descriptor, first.values);
}

function keyObject({ names, key }: NestedItem, collections: Referables): Type {
  const item = collections.get(names.collection)?.names.item ?? 'never';
  return generic('Pick', item, literals(key.map(({ name }) => name)));
}

function nestedWriteType(nested: NestedWrite, collections: Referables): Type {
  if (nested.kind === 'one') {
    const { member } = nested;
    const composite = member.links && member.key.length > 1 ? [keyObject(member, collections)] : [];
    const type = union(...keysOf(member, collections), ...composite, ...objectsOf(member, collections));
    return nested.nullable ? nullable(type) : type;
  }
  const forms = nested.kind === 'many' ? membersIn(nested.member, collections) : linksIn(nested, collections);
  const { elements, create, update, key } = forms;
  const kinds = [
    ...(create === null ? [] : ['create']),
    ...(update === null ? [] : ['update']),
    ...(create === null || update === null ? [] : ['upsert']),
    ...(nested.removes ? ['delete'] : []),
  ];
  const whole = elements.length === 0 ? 'readonly []' : list(union(...elements));
  const changes = generic('Changes', create ?? 'never', update ?? 'never', key);
  const some = kinds.length === 4 ? changes : generic('Pick', changes, literals(kinds));
  return union(whole, ...(kinds.length === 0 ? [] : [some]), 'null');
}

/** Types of list elements, by their position. */
interface Forms {
  readonly elements: readonly Type[];
  readonly create: Type | null;
  readonly update: Type | null;
  readonly key: Type;
}

function membersIn(member: NestedItem, collections: Referables): Forms {
  const create = member.create ? made(member, collections) : null;
  const update = member.update ? changed(member, collections) : null;
  return {
    elements: [
      ...keysOf(member, collections),
      ...(create === null ? [] : [create]),
      ...(update === null ? [] : [update]),
    ],
    create,
    update: update ?? (member.links ? keyObject(member, collections) : null),
    key: keyType(member, collections) ?? 'never',
  };
}

type AnyNestedWrite = Extract<NestedWrite, { kind: 'any' }>;

function linksIn(nested: AnyNestedWrite, collections: Referables): Forms {
  const { create, update } = linkObjects(nested, collections);
  const name = linkName(nested);
  return {
    elements: [...keysOf(nested.link, collections), ...(create.length + update.length === 0 ? [] : [name])],
    create: create.length === 0 ? null : name,
    update: update.length === 0 ? null : name,
    key: keyType(nested.link, collections) ?? 'never',
  };
}

/** A link that is made has a collection and an item; one that is changed, and has its key, need not. */
function linkObjects(
  nested: AnyNestedWrite,
  collections: Referables,
): { readonly create: readonly Type[]; readonly update: readonly Type[] } {
  const { link, named } = nested;
  const names = collections.get(link.names.collection)?.names;
  if (names === undefined) return { create: [], update: [] };
  const others = [...new Set(named)].filter((name) => link.key.every((part) => part.name !== name));
  return {
    create: link.create ? linkTypes(nested, names.create, collections) : [],
    update: link.update
      ? [...linkTypes(nested, names.change, collections), generic('Omit', names.change, literals(others))]
      : [],
  };
}

function linkTypes({ named, targets }: AnyNestedWrite, payload: string, collections: Referables): readonly Type[] {
  return targets.map(({ collection, member }) =>
    generic(
      'LinkTo',
      payload,
      literals([...new Set(named)]),
      stringLiteral(collection),
      union(...keysOf(member, collections), ...objectsOf(member, collections)),
    ),
  );
}
