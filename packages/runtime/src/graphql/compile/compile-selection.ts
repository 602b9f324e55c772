/** Selection of a document from items, in the planner's words. Names were judged when the document was validated. */
import { type GraphQLNamedType, type GraphQLObjectType, getNamedType, isObjectType, isUnionType } from 'graphql';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import {
  type Attribute,
  type GraphqlCollection,
  type GraphqlMember,
  graphqlName,
  type JsonValue,
  type ManyToAny,
} from '../../language/index.ts';
import { isBeyondInt, isMeasured } from '../../language/types/index.ts';
import { linkOf } from '../../query/authorise/links.ts';
import type { Selected } from '../../query/authorise/selection.ts';
import { resolveCall } from '../../sql/calls.ts';
import { castMembers, type MemberPart } from '../../sql/condition.ts';
import type { CollectionScope, FieldScope } from '../../sql/scope.ts';
import { type ListSetting, type ListSlot, listSlot } from '../reads/list-read.ts';
import { type CollectedField, type Collecting, collectFields, type Sets } from './collect.ts';
import { compileArguments } from './input.ts';
import type { PartTemplate, SelectionTemplate } from './selection-template.ts';

/** Context in which one operation is compiled, for one set of values of its conditions. */
export interface Compiling extends Collecting, ListSetting {
  /** The lists with arguments that were met, in order. */
  readonly lists: ListSlot[];
}

/** A place of a document: the type of the items, and everything that is selected of them. */
interface Place {
  readonly type: GraphQLObjectType;
  readonly names: GraphqlCollection;
  readonly collection: CollectionScope;
}

export function compileSelection(to: Compiling, type: GraphQLObjectType, sets: Sets): SelectionTemplate {
  const names = to.index.byType(type.name);
  const collection = names && to.scope.collections.get(names.descriptor.name);
  if (names === undefined || collection === undefined) throw unknownName(type.name);
  const parent = { type, names, collection };
  return { collection, parts: collectFields(to, type, sets).map((field) => compilePart(to, parent, field)) };
}

/** The selection sets of a field, wherever it was asked for. */
export function setsOf({ nodes }: CollectedField): Sets {
  return nodes.map(({ selectionSet }) => selectionSet);
}

/** A constant that every type has: its own name, or the null of a type without fields. */
export function constantOf(type: GraphQLObjectType, { key, name }: CollectedField) {
  if (name === '__typename') return { kind: 'constant', key, json: JSON.stringify(type.name) } as const;
  return name === '_empty' ? ({ kind: 'constant', key, json: 'null' } as const) : undefined;
}

function compilePart(to: Compiling, parent: Place, field: CollectedField): PartTemplate {
  const member = parent.names.output.get(field.name);
  if (member === undefined) return ready(constantOf(parent.type, field) ?? unknownPart(field));
  if (member.kind === 'functions') return compileFunctions(to, parent, member.name, field);
  return field.nodes[0].selectionSet === undefined
    ? ready(compileKey(parent, member, field))
    : compileNested(to, parent, member, field);
}

function ready(part: Selected): PartTemplate {
  return { kind: 'ready', part };
}

/** A field as answers have it: integers that outgrow those of GraphQL are texts. */
export function sentField(field: FieldScope): FieldScope {
  const { descriptor } = field;
  if (!isBeyondInt(descriptor) || field.secret) return field;
  return { ...field, descriptor: { ...descriptor, wire: { ...descriptor.wire, kind: 'text' } } };
}

/** A field, or the key of the item that a relation leads to. */
function compileKey({ collection }: Place, member: Named, { key }: CollectedField): Selected {
  const field = collection.fields.get(member.name);
  if (field !== undefined) return { kind: 'field', key, field: sentField(field) };
  const relation = collection.relations.get(member.name);
  return relation === undefined ? unknownPart({ name: member.name }) : { kind: 'keys', key, relation, read: undefined };
}

type Named = Exclude<GraphqlMember, { kind: 'functions' }>;

function compileNested(to: Compiling, parent: Place, member: Named, field: CollectedField): PartTemplate {
  const declared = parent.type.getFields()[field.name];
  const type = declared && getNamedType(declared.type);
  if (isUnionType(type) && member.kind === 'field' && member.link !== undefined) {
    return compileItem(to, member.link, field, to.schema.getPossibleTypes(type));
  }
  const relation = parent.collection.relations.get(member.name);
  const valued = parent.collection.fields.get(member.name);
  if (isObjectType(type) && valued?.descriptor.attributes !== undefined)
    return ready(compileMembers(to, valued, type, field));
  if (declared === undefined || !isObjectType(type) || relation === undefined) return unknownPart(field);
  const list = compileList(to, field, declared.args, relation.descriptor);
  return { kind: 'nested', key: field.key, relation, of: compileSelection(to, type, setsOf(field)), list };
}

/** Composite values, of which the database takes the selected members. */
function compileMembers(to: Compiling, scope: FieldScope, type: GraphQLObjectType, field: CollectedField): Selected {
  const { descriptor } = scope;
  const { attributes = [], wire } = descriptor;
  const members = { parts: memberParts(to, type, attributes, field), many: descriptor.type === 'array' };
  const chosen = { ...wire, cast: castMembers(wire.cast ?? '{}', members) };
  return { kind: 'field', key: field.key, field: { ...scope, descriptor: { ...descriptor, wire: chosen } } };
}

function memberParts(
  to: Compiling,
  type: GraphQLObjectType,
  attributes: readonly Attribute[],
  field: CollectedField,
): readonly MemberPart[] {
  return collectFields(to, type, setsOf(field)).map((part): MemberPart => {
    const { key, name } = part;
    const attribute = attributes.find((candidate) => graphqlName(candidate.name) === name);
    if (attribute === undefined) return constantOf(type, part) ?? unknownPart(part);
    const inner = getNamedType(type.getFields()[name]?.type);
    if (!isObjectType(inner) || attribute.attributes === undefined) return { key, member: attribute.name };
    const parts = memberParts(to, inner, attribute.attributes, part);
    return { key, member: attribute.name, of: { parts, many: attribute.type === 'array' } };
  });
}

/** The item of a link row: every type that it can have is selected, if only to tell that it is there. */
function compileItem(
  to: Compiling,
  link: ManyToAny,
  field: CollectedField,
  types: readonly GraphQLObjectType[],
): PartTemplate {
  const items = types.map((type) => compileSelection(to, type, setsOf(field)));
  return { kind: 'item', key: field.key, link, items };
}

/** The position of a relation's arguments among the lists; undefined where it has none. */
function compileList(
  to: Compiling,
  { nodes: [node] }: CollectedField,
  declared: Parameters<typeof compileArguments>[1],
  relation: Parameters<typeof linkOf>[0],
): number | undefined {
  if (node.arguments === undefined || node.arguments.length === 0) return undefined;
  const collection = to.scope.collections.get(relation.target);
  if (collection === undefined) throw unknownName(relation.target);
  return to.lists.push(listSlot(to, collection, linkOf(relation), compileArguments(node, declared))) - 1;
}

function compileFunctions(to: Compiling, parent: Place, name: string, field: CollectedField): PartTemplate {
  const type = getNamedType(parent.type.getFields()[field.name]?.type);
  if (!isObjectType(type)) throw unknownName(field.name);
  const inside = collectFields(to, type, setsOf(field));
  if (isMeasured(parent.collection.fields.get(name)?.descriptor.type ?? 'unknown')) {
    const names = inside.map((inner) => constantOf(type, inner) ?? ({ kind: 'distance', key: inner.key } as const));
    return { kind: 'distances', key: field.key, field: name, names };
  }
  const parts = inside.map((inner): Selected => {
    const found = resolveCall(parent.collection, `${inner.name}(${name})`)?.found;
    if (typeof found === 'object') return { kind: 'call', key: inner.key, call: found };
    return constantOf(type, inner) ?? unknownPart(inner);
  });
  return ready({ kind: 'group', key: field.key, parts });
}

export function unknownPart({ name }: Pick<CollectedField, 'name'>): never {
  throw unknownName(name);
}

/** The schema has a name that the access class does not: the two were made of different descriptions. */
export function unknownName(name: string): Error {
  return new Error(`The schema has a name without a declaration: "${name}".`);
}

type Members = { readonly [name: string]: JsonValue };

/** The member of a name in GraphQL; one of the database may have other characters. */
function memberOf(value: Members, name: string): JsonValue {
  const found = Object.hasOwn(value, name) ? name : Object.keys(value).find((key) => graphqlName(key) === name);
  return found === undefined ? null : (value[found] ?? null);
}

/** Makes what takes the selected parts of values of a type. Members that a value lacks are null. */
export function compileProjection(to: Collecting, type: GraphQLNamedType, sets: Sets): (value: JsonValue) => JsonValue {
  if (!isObjectType(type)) return (value) => value;
  const parts = collectFields(to, type, sets).map(({ key, name, nodes }) => {
    const declared = type.getFields()[name];
    if (declared === undefined) return { key, take: () => (name === '__typename' ? type.name : null) };
    const below = nodes.map(({ selectionSet }) => selectionSet);
    const project = compileProjection(to, getNamedType(declared.type), below);
    const read = (value: Members): JsonValue => project(memberOf(value, name));
    return { key, take: read };
  });
  return function project(value): JsonValue {
    if (Array.isArray(value)) return value.map(project);
    return isObject(value) ? Object.fromEntries(parts.map(({ key, take: accept }) => [key, accept(value)])) : null;
  };
}
