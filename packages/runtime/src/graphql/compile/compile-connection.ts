/** Connections: what a document selects of a page, as one selection of its items. */
import { type GraphQLObjectType, getNamedType, isObjectType, type SelectionSetNode } from 'graphql';
import type { CollectionScope } from '../../sql/scope.ts';
import { type CollectedField, collectFields } from './collect.ts';
import { type Compiling, compileSelection, constantOf, setsOf, unknownName } from './compile-selection.ts';
import type { PartTemplate, SelectionTemplate } from './selection-template.ts';

/** Fields of items that stand in one object: those of the selection from `from` on. */
export interface NodeFields {
  readonly from: number;
  readonly count: number;
}

/** A member of an edge. */
type EdgeMember =
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly node: NodeFields }
  | { readonly kind: 'constant'; readonly key: string; readonly json: string };

/** Member of `pageInfo`. */
export type PageMember =
  | { readonly kind: 'page'; readonly key: string; readonly name: string }
  | Extract<EdgeMember, { kind: 'constant' }>;

/** A response name of a connection. */
export type ConnectionPart =
  | { readonly kind: 'edges'; readonly key: string; readonly members: readonly EdgeMember[] }
  | { readonly kind: 'nodes'; readonly key: string; readonly node: NodeFields }
  | { readonly kind: 'count'; readonly key: string }
  | { readonly kind: 'info'; readonly key: string; readonly members: readonly PageMember[] }
  | Extract<EdgeMember, { kind: 'constant' }>;

/** Everything that is selected of a connection. */
interface ConnectionSelection {
  /** The fields of all nodes, one after the other. */
  readonly items: SelectionTemplate;
  readonly parts: readonly ConnectionPart[];
}

type Sets = readonly (SelectionSetNode | undefined)[];

/** Compiles what is selected of a connection of a collection. */
export function compileConnection(
  to: Compiling,
  collection: CollectionScope,
  type: GraphQLObjectType,
  sets: Sets,
): ConnectionSelection {
  const items: PartTemplate[] = [];

  function nodeOf(parent: GraphQLObjectType, field: CollectedField): NodeFields {
    const { parts } = compileSelection(to, typeIn(parent, field), setsOf(field));
    const from = items.length;
    items.push(...parts);
    return { from, count: parts.length };
  }

  function edgeMember(parent: GraphQLObjectType, field: CollectedField): EdgeMember {
    const { key, name } = field;
    if (name === 'cursor') return { kind: 'cursor', key };
    return name === 'node' ? { kind: 'node', key, node: nodeOf(parent, field) } : constantIn(parent, field);
  }

  const parts = collectFields(to, type, sets).map((field): ConnectionPart => {
    const { key, name } = field;
    if (name === 'totalCount') return { kind: 'count', key };
    if (name === 'nodes') return { kind: 'nodes', key, node: nodeOf(type, field) };
    if (name !== 'edges' && name !== 'pageInfo') return constantIn(type, field);
    const inner = typeIn(type, field);
    const fields = collectFields(to, inner, setsOf(field));
    if (name === 'edges') return { kind: 'edges', key, members: fields.map((member) => edgeMember(inner, member)) };
    const members = fields.map(
      (member): PageMember =>
        member.name === '__typename' ? constantIn(inner, member) : { kind: 'page', key: member.key, name: member.name },
    );
    return { kind: 'info', key, members };
  });
  return { items: { collection, parts: items }, parts };
}

function typeIn(parent: GraphQLObjectType, { name }: CollectedField): GraphQLObjectType {
  const type = getNamedType(parent.getFields()[name]?.type);
  if (!isObjectType(type)) throw unknownName(name);
  return type;
}

function constantIn(parent: GraphQLObjectType, field: CollectedField): Extract<EdgeMember, { kind: 'constant' }> {
  const constant = constantOf(parent, field);
  if (constant === undefined) throw unknownName(field.name);
  return constant;
}
