/**
 * Relations of payloads: which items of other collections an access class may link, make, change and remove through them.
 * Source: API specification, sections 7.2 to 7.6.
 */
import type {
  ColumnPair,
  ManyToAny,
  ManyToMany,
  ManyToOne,
  OneToMany,
  RelationDescriptor,
} from '@tablewright/runtime/contract';
import type { ApiCollection } from '../api.ts';
import { nameLink } from './names.ts';
import type { SeenPayload, SeenWrites } from './seen-writes.ts';
import type { Sight } from './sight.ts';
import type { ViewLead, ViewMember } from './view.ts';
import { viewKey } from './view-key.ts';

/** The relations of a payload that are no fields. */
export function viewLeads(api: ApiCollection, { listed, fields }: SeenPayload, sight: Sight): readonly ViewLead[] {
  const fieldNames = new Set(api.descriptor.fields.map(({ name }) => name));
  const relations = api.descriptor.relations.filter(({ name }) => listed.has(name) && !fieldNames.has(name));
  return relations.flatMap((relation): readonly ViewLead[] => {
    if (relation.kind === 'm2o') {
      const holders = fieldsOf(api, relation.on, 'from');
      const member = memberOf(relation.target, [], sight);
      if (!holders.every((name) => fields.has(name)) || !isSomething(member)) return [];
      return [{ kind: 'one', name: relation.name, nullable: relation.nullable, member, holders }];
    }
    const lead = viewMany(api.descriptor.name, relation, sight);
    return lead === null ? [] : [lead];
  });
}

function viewMany(owner: string, relation: Exclude<RelationDescriptor, ManyToOne>, sight: Sight): ViewLead | null {
  if (relation.kind === 'm2a') return viewAny(owner, relation, sight);
  return relation.kind === 'o2m' ? viewChildren(relation, sight) : viewTargets(relation, sight);
}

/** The item that may stand in the place of a foreign key; null where only the key may. */
export function viewOne(field: string, { descriptor }: ApiCollection, sight: Sight): ViewMember | null {
  const relation = descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === field);
  const member = relation && memberOf(relation.target, [], sight);
  return member && (member.create || member.update) ? member : null;
}

/** Permissions of an access class on items of a collection, before a relation restricts them. */
function memberOf(collection: string, owned: readonly string[], sight: Sight): ViewMember | null {
  const names = sight.writes.get(collection)?.names ?? sight.visible.get(collection)?.names;
  if (names === undefined) return null;
  const writes = sight.writes.get(collection)?.seen;
  const key = viewKey(collection, sight);
  const update = writes?.update != null && key.length > 0;
  const create = owned.filter((name) => writes !== undefined && isRequired(writes, name));
  const change = owned.filter((name) => key.some((part) => part.name === name));
  const base = { key, links: key.length > 0, names, owned: { create, change } };
  return { ...base, create: writes?.create != null, update };
}

function isRequired({ api, create }: SeenWrites, name: string): boolean {
  const field = api.fields.find(({ descriptor }) => descriptor.name === name);
  const required = field?.required === true || field?.descriptor.required === true;
  return required && create?.preset.has(name) !== true;
}

function isSomething(member: ViewMember | null): member is ViewMember {
  return member !== null && (member.links || member.create || member.update);
}

/** Children hold the key of the item above, so every change of the relation writes this field. */
function viewChildren({ name, target, on, onDeselect }: OneToMany, sight: Sight): ViewLead | null {
  const seen = sight.writes.get(target)?.seen;
  const owned = seen === undefined ? [] : fieldsOf(seen.api, on, 'to');
  const member = ownedMember(target, owned, sight);
  if (seen === undefined || member === null) return null;
  const empties = owned.some((field) => isEmptied(seen.api, field));
  const removes = empties ? holds(seen, seen.update, owned) : onDeselect === 'delete' && seen.delete;
  return isSomething(member) || removes ? { kind: 'many', name, member, removes: removes && hasKey(member) } : null;
}

function ownedMember(target: string, owned: readonly string[], sight: Sight): ViewMember | null {
  const seen = sight.writes.get(target)?.seen;
  const member = memberOf(target, owned, sight);
  if (seen === undefined || member === null) return null;
  const update = member.update && holds(seen, seen.update, owned);
  const create = member.create && owned.every((field) => seen.create?.fields.has(field));
  return { ...member, create, update, links: update };
}

/** True if a payload may set the fields of a foreign key; fields of the own key stay as they are. */
function holds({ api }: SeenWrites, payload: SeenPayload | null, owned: readonly string[]): boolean {
  const { key } = api.descriptor;
  return payload !== null && owned.every((field) => key.includes(field) || payload.fields.has(field));
}

function hasKey({ key }: ViewMember): boolean {
  return key.length > 0;
}

function isEmptied({ descriptor }: ApiCollection, name: string): boolean {
  const field = descriptor.fields.find((candidate) => candidate.name === name);
  return field?.nullable === true && field.required !== true && !descriptor.key.includes(name);
}

/** The junction is made and deleted by the server, in the name of the caller. */
function viewTargets({ name, target, junction, near, far }: ManyToMany, sight: Sight): ViewLead | null {
  const member = memberOf(target, [], sight);
  const seen = sight.writes.get(junction)?.seen;
  if (member === null || seen === undefined) return null;
  const holders = [...fieldsOf(seen.api, near, 'to'), ...fieldsOf(seen.api, far, 'from')];
  const joins = seen.create !== null && holders.every((field) => seen.create?.fields.has(field));
  const joined: ViewMember = joins ? member : { ...member, links: false, create: false, update: false };
  const removes = seen.delete && hasKey(member);
  return isSomething(joined) || removes ? { kind: 'many', name, member: joined, removes } : null;
}

/** Links name a collection and a key in it, or an item of it. */
function viewAny(owner: string, relation: ManyToAny, sight: Sight): ViewLead | null {
  const { name, target, on, collectionField, itemField, allowed } = relation;
  const seen = sight.writes.get(target)?.seen;
  const owned = seen === undefined ? [] : fieldsOf(seen.api, on, 'to');
  const link = ownedMember(target, owned, sight);
  if (seen === undefined || link === null) return null;
  const named = [collectionField, itemField];
  const names = (payload: SeenPayload | null) => named.every((field) => payload?.fields.has(field));
  const targets = allowed.flatMap((collection) => {
    const member = memberOf(collection, [], sight);
    return isSomething(member) ? [{ collection, member }] : [];
  });
  const made = { ...link, create: link.create && names(seen.create), update: link.update && names(seen.update) };
  const removes = seen.delete && hasKey(link);
  if (!isSomething(made) && !removes) return null;
  const component = nameLink(owner, name);
  return {
    kind: 'any',
    name,
    component,
    collection: target,
    link: made,
    removes,
    named: [...named, ...owned],
    targets,
  };
}

/** Names of the fields of a collection behind one side of a relation. */
function fieldsOf({ descriptor }: ApiCollection, on: readonly ColumnPair[], side: keyof ColumnPair): readonly string[] {
  return on.flatMap((pair) => descriptor.fields.find(({ column }) => column === pair[side])?.name ?? []);
}
