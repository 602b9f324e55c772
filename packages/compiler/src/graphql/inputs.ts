/** The inputs that write items. Source: API specification, sections 7.2 to 7.4 and 14.2. */
import { graphqlChangesName, graphqlName, graphqlTypeNames } from '@platform/runtime/contract';
import { createFacts } from '../memory/facts.ts';
import type { Lookup } from '../memory/remember.ts';
import type { ViewField, ViewInput, ViewLead, ViewPayload } from '../openapi/view.ts';
import { type SdlField, sdlType } from '../print/sdl.ts';
import type { Neighbours, Shown, Surface } from './surface.ts';
import { nonNull, valueType } from './values.ts';

/** Which inputs relations refer to, by collection. */
export interface Referred {
  readonly update: Lookup<true>;
  readonly changes: Lookup<true>;
  readonly link: Lookup<true>;
}

/** Gathers what relations refer to. */
export function referredInputs(surface: Surface): Referred {
  const all = [...surface.collections.values()].map((shown) => leadsOf(shown, () => findLeads(shown)));
  const many = all.flatMap((one) => one.many);
  const isKeyed = (name: string): boolean => (surface.collections.get(name)?.view.key.length ?? 0) > 0;
  const read = all.flatMap((one) => one.read.filter(isKeyed));
  return {
    update: among([...many, ...all.flatMap((one) => one.others), ...read]),
    changes: among(many),
    link: among(all.flatMap((one) => one.links)),
  };
}

/** The collections that payloads of one lead to, by their names. */
interface Leads {
  readonly many: readonly string[];
  readonly links: readonly string[];
  /** Those whose items can be linked, made or changed in some way, without those of `many`. */
  readonly others: readonly string[];
  /** Those of many-to-ones of which only the key may stand, where they have one. */
  readonly read: readonly string[];
}

const leadsOf = createFacts<Shown, Leads>();

function findLeads({ view, descriptor }: Shown): Leads {
  const payloads = payloadsOf(view.writes);
  const leads = payloads.flatMap((payload) => payload.leads);
  const links = leads.flatMap((lead) => (lead.kind === 'any' ? [lead.collection] : []));
  const ones = leads.flatMap((lead) => (lead.kind === 'one' ? [lead.member.names.collection] : []));
  const fields = payloads.flatMap((payload) => payload.fields);
  const members = fields.flatMap(({ member }) => (member === null ? [] : [member.names.collection]));
  const plain = fields.filter(({ member }) => member === null);
  return {
    many: leads.flatMap((lead) => (lead.kind === 'many' ? [lead.member.names.collection] : [])),
    links,
    others: [...links, ...ones, ...members],
    read: plain.flatMap(({ name }) => manyToOneOf(name, descriptor)?.target ?? []),
  };
}

function among(names: readonly string[]): Lookup<true> {
  return new Map(names.map((name) => [name, true]));
}

/** Prints the inputs of a collection. */
export function inputTypes(shown: Shown, surface: Neighbours, referred: Referred): readonly string[] {
  const { view, types, descriptor } = shown;
  const create = view.writes?.create ?? null;
  const updates = view.writes?.update != null || referred.update.has(view.name);
  const all = updateFields(shown, surface);
  return [
    ...(create && !descriptor.singleton ? [sdlType('input', types.create, createFields(create, shown, surface))] : []),
    ...(updates ? [sdlType('input', types.update, all)] : []),
    ...(referred.changes.has(view.name) ? [changesType(types.changes, types.update, types.update)] : []),
    ...(referred.link.has(view.name)
      ? [sdlType('input', types.link, linkFields(shown, all)), changesType(types.linkChanges, types.link, types.update)]
      : []),
  ];
}

function changesType(name: string, create: string, update: string): string {
  return sdlType('input', name, [
    { name: 'create', type: `[${create}!]` },
    { name: 'update', type: `[${update}!]` },
    { name: 'delete', type: '[ID!]' },
  ]);
}

/** A field that a relation holds the key by is not needed where the relation is given. */
function createFields(create: ViewPayload, shown: Shown, surface: Neighbours): readonly SdlField[] {
  const holders = new Set(create.leads.flatMap((lead) => (lead.kind === 'one' ? lead.holders : [])));
  return [
    ...create.fields.map((field): SdlField => {
      const needed = create.required.includes(field.name) && !holders.has(field.name) && !isCheckedLater(shown, field);
      const { type, deprecated = null, ...others } = inputField(field, shown, surface);
      // What must be given cannot be deprecated.
      return { ...others, type: nonNull(type, !needed), deprecated: needed ? null : deprecated };
    }),
    ...create.leads.flatMap(leadFields),
  ];
}

/** Users of other providers have no password, and perhaps no address; files that are fetched are named by their address. */
function isCheckedLater({ view }: Shown, { name }: ViewInput): boolean {
  if (view.name === 'platform_files') return name === 'filename_download';
  return view.name === 'platform_users' && (name === 'email' || name === 'password');
}

/** The key, and everything that a new item or a change may have: below a relation it can be either. */
function updateFields(shown: Shown, surface: Neighbours): readonly SdlField[] {
  const payloads = payloadsOf(shown.view.writes);
  const fields = payloads.flatMap((payload) => payload.fields);
  const given = new Set(fields.map(({ name }) => name));
  const keys = shown.view.key.filter(({ name }) => !given.has(name));
  return byName([
    ...keys.map((part) => ({ name: graphqlName(part.name), type: keyType(part, shown), note: part.note })),
    ...fields.map((field) => inputField(field, shown, surface)),
    ...payloads.flatMap((payload) => payload.leads).flatMap(leadFields),
  ]);
}

/** An element of a many-to-any says what it holds by two names of its own. */
function linkFields({ links }: Shown, all: readonly SdlField[]): readonly SdlField[] {
  const named = links.flatMap(({ collectionField, itemField }) => [collectionField, itemField]);
  const hidden = new Set(['collection', 'item', ...named.map(graphqlName)]);
  return [
    { name: 'collection', type: 'String!' },
    { name: 'item', type: 'JSON' },
    ...all.filter(({ name }) => !hidden.has(name)),
  ];
}

function inputField(field: ViewInput, shown: Shown, surface: Neighbours): SdlField {
  const { name, note, deprecated } = field;
  return { name: graphqlName(name), type: inputType(field, shown, surface), note, deprecated };
}

function inputType(field: ViewInput, shown: Shown, surface: Neighbours): string {
  const target = targetOf(field, shown, surface);
  return target === null ? keyType(field, shown) : graphqlTypeNames(target).update;
}

function keyType({ name, descriptor }: Pick<ViewField, 'name' | 'descriptor'>, shown: Shown): string {
  const { key } = shown.descriptor;
  return valueType(descriptor, key.length === 1 && key[0] === name);
}

/** The many-to-one that reads a field. */
function manyToOneOf(field: string, { relations }: Shown['descriptor']) {
  return relations.find((one) => one.kind === 'm2o' && one.field === field);
}

/** The collection of a many-to-one whose items can be linked, made or changed; null where only the key may stand. */
function targetOf({ name, member }: ViewInput, { descriptor }: Shown, { collections }: Neighbours): string | null {
  if (member !== null) return member.names.collection;
  const relation = manyToOneOf(name, descriptor);
  const target = relation && collections.get(relation.target);
  return target && target.view.key.length > 0 ? target.view.name : null;
}

function leadFields(lead: ViewLead): readonly SdlField[] {
  const name = graphqlName(lead.name);
  const changed = graphqlChangesName(lead.name);
  if (lead.kind === 'any') {
    const { link, linkChanges } = graphqlTypeNames(lead.collection);
    return [
      { name, type: `[${link}!]` },
      { name: changed, type: linkChanges },
    ];
  }
  const { update, changes } = graphqlTypeNames(lead.member.names.collection);
  if (lead.kind === 'one') return [{ name, type: update }];
  return [
    { name, type: `[${update}!]` },
    { name: changed, type: changes },
  ];
}

function payloadsOf(writes: Shown['view']['writes']): readonly ViewPayload[] {
  return [writes?.create ?? [], writes?.update ?? []].flat();
}

function byName(fields: readonly SdlField[]): readonly SdlField[] {
  return [...new Map(fields.map((field) => [field.name, field])).values()];
}
