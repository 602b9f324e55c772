/** The inputs that write items. Source: API specification, sections 7.2 to 7.4 and 14.2. */
import { graphqlChangesName, graphqlName, graphqlTypeNames, graphqlUpdateName } from '@tablewright/runtime/language';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFacts } from '../cache/same.ts';
import { type PrintedField, sdlLine, sdlType } from '../print/sdl.ts';
import type { NestedWrite, RoleField, RoleInput, RolePayload } from '../role-view/role-view.ts';
import type { GraphqlCollection, GraphqlCollections, Referables } from './graphql-collections.ts';
import { valueType } from './values.ts';

/** Inputs that relations refer to, by collection. */
type Referred = ReturnType<typeof referredInputs>;

/** Gathers what relations refer to. */
export function referredInputs(schema: GraphqlCollections) {
  const all = [...schema.collections.values()].map((shown) => relatedFacts(shown, () => findRelated(shown)));
  const many = all.flatMap((use) => use.many);
  const isKeyed = (name: string): boolean => (schema.collections.get(name)?.view.key.length ?? 0) > 0;
  const read = all.flatMap((use) => use.read.filter(isKeyed));
  return {
    update: among([...many, ...all.flatMap((use) => use.others), ...read]),
    changes: among(many),
    link: among(all.flatMap((use) => use.links)),
  } as const;
}

/** The collections that payloads of one lead to, by their names. */
type RelatedCollections = ReturnType<typeof findRelated>;

const relatedFacts = createFacts<GraphqlCollection, RelatedCollections>();

function findRelated({ view, descriptor }: GraphqlCollection) {
  const payloads = payloadsOf(view.writes);
  const nestedWrites = payloads.flatMap((payload) => payload.nestedWrites);
  const links = nestedWrites.flatMap((nested) => (nested.kind === 'any' ? [nested.collection] : []));
  const ones = nestedWrites.flatMap((nested) => (nested.kind === 'one' ? [nested.member.names.collection] : []));
  const fields = payloads.flatMap((payload) => payload.fields);
  const members = fields.flatMap(({ member }) => (member === null ? [] : [member.names.collection]));
  const plain = fields.filter(({ member }) => member === null);
  return {
    many: nestedWrites.flatMap((nested) => (nested.kind === 'many' ? [nested.member.names.collection] : [])),
    links,
    /** Collections whose items can be linked, made or changed in some way, without those of `many`. */
    others: [...links, ...ones, ...members],
    /** Inputs of many-to-ones of which only the key may stand, where they have one. */
    read: plain.flatMap(({ name }) => manyToOneOf(name, descriptor)?.target ?? []),
  } as const;
}

function among(names: readonly string[]): Lookup<true> {
  return new Map(names.map((name) => [name, true]));
}

export function inputTypes(shown: GraphqlCollection, schema: Referables, referred: Referred): readonly string[] {
  const { view, types, descriptor } = shown;
  const create = view.writes?.create ?? null;
  const updates = view.writes?.update != null || referred.update.has(view.name);
  const all = updateLines(shown, schema);
  return [
    ...(create && !descriptor.singleton
      ? [sdlType('input', types.create, createLines(create, all, shown, schema))]
      : []),
    ...(updates ? [sdlType('input', types.update, [...all.values()])] : []),
    ...(referred.changes.has(view.name) ? [changesType(types.changes, types.update, types.update)] : []),
    ...(referred.link.has(view.name)
      ? [sdlType('input', types.link, linkLines(shown, all)), changesType(types.linkChanges, types.link, types.update)]
      : []),
  ];
}

function changesType(name: string, create: string, update: string): string {
  return sdlType('input', name, [
    sdlLine('create', `[${create}!]`),
    sdlLine('update', `[${update}!]`),
    sdlLine('delete', '[ID!]'),
  ]);
}

/** Fields of an input by their names. */
type Lines = ReadonlyMap<string, PrintedField>;

/** A field that a relation holds the key by is not needed where the relation is given. */
function createLines(
  create: RolePayload,
  all: Lines,
  shown: GraphqlCollection,
  schema: Referables,
): readonly PrintedField[] {
  const holders = new Set(create.nestedWrites.flatMap((nested) => (nested.kind === 'one' ? nested.holders : [])));
  const fields = create.fields.map((field): PrintedField => {
    const { name, note } = field;
    const needed = create.required.includes(name) && !holders.has(name) && !isCheckedLater(shown, field);
    // A required field cannot be deprecated.
    if (needed) return sdlLine(graphqlName(name), `${inputType(field, shown, schema)}!`, note);
    return all.get(graphqlName(name)) ?? '';
  });
  return [...fields, ...create.nestedWrites.flatMap(nestedWriteNames).map((name) => all.get(name) ?? '')];
}

/** Users of other providers have no password, and perhaps no address; files that are fetched have a name and a type. */
function isCheckedLater({ view }: GraphqlCollection, { name }: RoleInput): boolean {
  if (view.name === 'platform_files') return name === 'filename_download' || name === 'type';
  return view.name === 'platform_users' && (name === 'email' || name === 'password');
}

/** The key, and everything that a new item or a change may have: below a relation it can be either. */
function updateLines(shown: GraphqlCollection, schema: Referables): Lines {
  const payloads = payloadsOf(shown.view.writes);
  const fields = new Set(payloads.flatMap((payload) => payload.fields));
  const printed = new Set([...fields].map(({ name }) => name));
  const lines = new Map<string, PrintedField>();
  for (const part of shown.view.key) {
    const name = graphqlName(part.name);
    if (!printed.has(part.name)) lines.set(name, sdlLine(name, keyType(part, shown), part.note));
  }
  for (const field of fields) {
    const name = graphqlName(field.name);
    lines.set(name, sdlLine(name, inputType(field, shown, schema), field.note, field.deprecated));
  }
  for (const nested of new Set(payloads.flatMap((payload) => payload.nestedWrites))) addNestedWrite(lines, nested);
  return lines;
}

/** An element of a many-to-any says what it holds by two names of its own. */
function linkLines({ links }: GraphqlCollection, all: Lines): readonly PrintedField[] {
  const named = links.flatMap(({ collectionField, itemField }) => [collectionField, itemField]);
  const hidden = new Set(['collection', 'item', ...named.map(graphqlName)]);
  const others = [...all].filter(([name]) => !hidden.has(name)).map(([, line]) => line);
  return [sdlLine('collection', 'String!'), sdlLine('item', 'JSON'), ...others];
}

function inputType(field: RoleInput, shown: GraphqlCollection, schema: Referables): string {
  const target = targetOf(field, shown, schema);
  return target === null ? keyType(field, shown) : graphqlUpdateName(target);
}

function keyType(
  { name, descriptor, valuesType }: Pick<RoleField, 'name' | 'descriptor' | 'valuesType'>,
  shown: GraphqlCollection,
): string {
  const { key } = shown.descriptor;
  return valueType(descriptor, key.length === 1 && key[0] === name, valuesType?.graphqlEnum, true);
}

function manyToOneOf(field: string, { relations }: GraphqlCollection['descriptor']) {
  return relations.find((relation) => relation.kind === 'm2o' && relation.field === field);
}

/** The collection of a many-to-one whose items can be linked, made or changed; null where only the key may stand. */
function targetOf(
  { name, member }: RoleInput,
  { descriptor }: GraphqlCollection,
  { collections }: Referables,
): string | null {
  if (member !== null) return member.names.collection;
  const relation = manyToOneOf(name, descriptor);
  const target = relation && collections.get(relation.target);
  return target && target.view.key.length > 0 ? target.view.name : null;
}

/** A related item has one field; a list has one for the whole list and one for its changes. */
function nestedWriteNames({ kind, name }: NestedWrite): readonly string[] {
  return kind === 'one' ? [graphqlName(name)] : [graphqlName(name), graphqlChangesName(name)];
}

function addNestedWrite(lines: Map<string, PrintedField>, nested: NestedWrite): void {
  const [name = '', changed = ''] = nestedWriteNames(nested);
  if (nested.kind === 'one') {
    lines.set(name, sdlLine(name, graphqlUpdateName(nested.member.names.collection)));
    return;
  }
  const types = graphqlTypeNames(nested.kind === 'any' ? nested.collection : nested.member.names.collection);
  lines.set(name, sdlLine(name, `[${nested.kind === 'any' ? types.link : types.update}!]`));
  lines.set(changed, sdlLine(changed, nested.kind === 'any' ? types.linkChanges : types.changes));
}

function payloadsOf(writes: GraphqlCollection['view']['writes']): readonly RolePayload[] {
  return [writes?.create ?? [], writes?.update ?? []].flat();
}
