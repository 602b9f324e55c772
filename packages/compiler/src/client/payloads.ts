/** Payload types of a collection. `openapi/inputs.ts`, `leads.ts` and `payloads.ts` print the same facts. */
import type { ViewInput, ViewLead, ViewMember, ViewPayload } from '../openapi/view.ts';
import type { Member, TypeDeclaration } from '../print/declaration.ts';
import { member as needed, optional } from '../print/declarations.ts';
import { shortened } from '../print/identifier.ts';
import { stringLiteral } from '../print/text.ts';
import { generic, list, nullable, type Type, union } from '../print/type.ts';
import type { ClientCollection, Neighbours } from './surface.ts';
import { literals, takenType } from './values.ts';

/** The types of payloads, as far as the class writes anything. */
export function declarePayloads(collection: ClientCollection, surface: Neighbours): readonly TypeDeclaration[] {
  const { view, names } = collection;
  const { create = null, update = null } = view.writes ?? {};
  const cached: KnownMembers = new Map();
  const created = create === null ? [] : membersOf(create, surface, cached);
  const updated = update === null ? [] : membersOf(update, surface, cached);
  return [
    ...linkAliases([create, update], surface),
    ...(create === null ? [] : [declared(names.create, `What a new item of \`${view.name}\` is made from.`, created)]),
    ...(update === null ? [] : [declared(names.update, `Changes of an item of \`${view.name}\`.`, updated)]),
    ...(update === null || view.key.length === 0
      ? []
      : [
          declared(
            names.change,
            `Changes of the item of \`${view.name}\` that has the key.`,
            keyed(collection, updated),
          ),
        ]),
  ];
}

/** Members that need not be there, of what payloads have in common. */
type KnownMembers = Map<ViewInput | ViewLead, Member>;

/** The objects that links of many-to-any relations may be, the same in every payload. */
function linkAliases(payloads: readonly (ViewPayload | null)[], surface: Neighbours): readonly TypeDeclaration[] {
  const leads = payloads.flatMap((payload) => payload?.leads ?? []).filter((lead) => lead.kind === 'any');
  return [...new Map(leads.map((lead) => [linkName(lead), lead]))].flatMap(([name, lead]) => {
    const objects = linkObjects(lead, surface);
    const type = union(...objects.create, ...objects.update);
    return objects.create.length + objects.update.length === 0
      ? []
      : [{ kind: 'alias', name, notes: [`A link of \`${lead.name}\` with its item.`], type } as const];
  });
}

function linkName({ component }: AnyLead): string {
  return shortened(component, component);
}

function declared(name: string, note: string, members: readonly Member[]): TypeDeclaration {
  return { kind: 'interface', name, notes: [note], members };
}

function membersOf(
  { fields, required, leads }: ViewPayload,
  surface: Neighbours,
  cached: KnownMembers,
): readonly Member[] {
  const held = new Set(leads.flatMap((lead) => (lead.kind === 'one' ? lead.holders : [])));
  const members = fields.map((field) => {
    const isNeeded = required.includes(field.name) && !held.has(field.name);
    return isNeeded
      ? fieldMember(field, surface, needed)
      : once(cached, field, () => fieldMember(field, surface, optional));
  });
  return [...members, ...leads.map((lead) => once(cached, lead, () => optional(lead.name, leadType(lead, surface))))];
}

function once(cached: KnownMembers, source: ViewInput | ViewLead, make: () => Member): Member {
  const member = cached.get(source) ?? make();
  cached.set(source, member);
  return member;
}

function keyed({ view }: ClientCollection, changes: readonly Member[]): readonly Member[] {
  const names = new Set(view.key.map(({ name }) => name));
  const key = view.key.map((field) => needed(field.name, takenType(field.descriptor, field.values), [field.note]));
  return [...key, ...changes.filter(({ name }) => !names.has(name))];
}

function fieldMember(field: ViewInput, surface: Neighbours, declare: typeof optional): Member {
  const { name, note, deprecated, descriptor, values, member } = field;
  const plain = takenType(descriptor, values);
  const type = member === null ? plain : union(plain, ...objectsOf(member, surface));
  return declare(name, field.nullable ? nullable(type) : type, [note], deprecated);
}

/** The items that may stand in the place of a key: a new one, or changes of the one that has the key in it. */
function objectsOf(member: ViewMember, surface: Neighbours): readonly Type[] {
  return [...(member.create ? [made(member, surface)] : []), ...(member.update ? [changed(member, surface)] : [])];
}

function made({ names, owned }: ViewMember, surface: Neighbours): Type {
  const target = surface.get(names.collection);
  return given(target?.names.create ?? 'never', owned.create, target?.view.writes?.create);
}

function changed({ names, owned }: ViewMember, surface: Neighbours): Type {
  const target = surface.get(names.collection);
  const key = target?.view.key.map((field) => field.name) ?? [];
  return given(target?.names.change ?? 'never', owned.change, target?.view.writes?.update, key);
}

/** A payload some of whose fields the relation sets. */
function given(
  name: string,
  owned: readonly string[],
  payload: ViewPayload | null | undefined,
  key: readonly string[] = [],
): Type {
  if (owned.length === 0) return name;
  const names = new Set([...key, ...(payload?.fields ?? []).map((field) => field.name)]);
  const set = owned.filter((field) => names.has(field));
  return set.length === 0 ? name : generic('Given', name, literals(set));
}

function keysOf(member: ViewMember, surface: Neighbours): readonly Type[] {
  const key = member.links ? keyType(member, surface) : null;
  return key === null ? [] : [key];
}

/** The key of an item in a list; null where it cannot be named. */
function keyType({ names }: ViewMember, surface: Neighbours): Type | null {
  const key = surface.get(names.collection)?.view.key ?? [];
  const first = key[0];
  if (first === undefined) return null;
  return key.length > 1 ? 'string' : takenType(first.descriptor, first.values);
}

function keyObject({ names, key }: ViewMember, surface: Neighbours): Type {
  const item = surface.get(names.collection)?.names.item ?? 'never';
  return generic('Pick', item, literals(key.map(({ name }) => name)));
}

function leadType(lead: ViewLead, surface: Neighbours): Type {
  if (lead.kind === 'one') {
    const { member } = lead;
    const composite = member.links && member.key.length > 1 ? [keyObject(member, surface)] : [];
    const type = union(...keysOf(member, surface), ...composite, ...objectsOf(member, surface));
    return lead.nullable ? nullable(type) : type;
  }
  const forms = lead.kind === 'many' ? membersIn(lead.member, surface) : linksIn(lead, surface);
  const { elements, create, update, key } = forms;
  const kinds = [
    ...(create === null ? [] : ['create']),
    ...(update === null ? [] : ['update']),
    ...(create === null || update === null ? [] : ['upsert']),
    ...(lead.removes ? ['delete'] : []),
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

function membersIn(member: ViewMember, surface: Neighbours): Forms {
  const create = member.create ? made(member, surface) : null;
  const update = member.update ? changed(member, surface) : null;
  return {
    elements: [...keysOf(member, surface), ...(create === null ? [] : [create]), ...(update === null ? [] : [update])],
    create,
    update: update ?? (member.links ? keyObject(member, surface) : null),
    key: keyType(member, surface) ?? 'never',
  };
}

type AnyLead = Extract<ViewLead, { kind: 'any' }>;

function linksIn(lead: AnyLead, surface: Neighbours): Forms {
  const { create, update } = linkObjects(lead, surface);
  const name = linkName(lead);
  return {
    elements: [...keysOf(lead.link, surface), ...(create.length + update.length === 0 ? [] : [name])],
    create: create.length === 0 ? null : name,
    update: update.length === 0 ? null : name,
    key: keyType(lead.link, surface) ?? 'never',
  };
}

/** A link that is made has a collection and an item; one that is changed, and has its key, need not. */
function linkObjects(
  lead: AnyLead,
  surface: Neighbours,
): { readonly create: readonly Type[]; readonly update: readonly Type[] } {
  const { link, named } = lead;
  const names = surface.get(link.names.collection)?.names;
  if (names === undefined) return { create: [], update: [] };
  const others = [...new Set(named)].filter((name) => link.key.every((part) => part.name !== name));
  return {
    create: link.create ? linkTypes(lead, names.create, surface) : [],
    update: link.update
      ? [...linkTypes(lead, names.change, surface), generic('Omit', names.change, literals(others))]
      : [],
  };
}

function linkTypes({ named, targets }: AnyLead, payload: string, surface: Neighbours): readonly Type[] {
  return targets.map(({ collection, member }) =>
    generic(
      'LinkTo',
      payload,
      literals([...new Set(named)]),
      stringLiteral(collection),
      union(...keysOf(member, surface), ...objectsOf(member, surface)),
    ),
  );
}
