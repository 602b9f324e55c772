/**
 * Maximum size of an operation. It is judged with its fragments expanded and before it is validated, so that slower
 * steps work on little. Source: API specification, section 14.4.
 *
 * Fragments are measured once each, however often they are spread: sizes add up as numbers. So an operation that would
 * expand to more fields than there are atoms is refused like one that is a single field too large.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { OperationLimits } from '../../environment/requests.ts';
import { costs } from '../../query/plan/cost.ts';
import { DocumentError } from './document-errors.ts';

/** How large a selection is with all fragments in it expanded. */
interface SelectionSize {
  readonly depth: number;
  readonly aliases: number;
  readonly cost: number;
  /** Its own fields by the name they are answered under. */
  readonly names: ReadonlyMap<string, number>;
}

/**
 * Measures the operations and fragments of one document. Throws INVALID_QUERY for a fragment that spreads itself, and for
 * what costs too much: measuring the rest of it would cost as much.
 */
export type Measure = (definition: OperationDefinitionNode | FragmentDefinitionNode) => SelectionSize;

/**
 * Makes what measures the definitions of a document. A selection costs 1 for each field, and 10 more for each list of
 * items and each root field. Each two fields that are answered under one name cost 1 more: these have to be compared
 * with each other. Unknown names count as fields without a type.
 */
export function measureIn(schema: GraphQLSchema, document: DocumentNode, maxCost: number): Measure {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const measured = new Map<string, SelectionSize | null>();
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];

  const isRoot = (type: GraphQLNamedType | undefined): boolean => type !== undefined && roots.includes(type);

  function sizeOfFragment(name: string): SelectionSize {
    const cached = measured.get(name);
    if (cached === null) throw new DocumentError('A fragment spreads itself.');
    if (cached !== undefined) return cached;
    const fragment = fragments.get(name);
    if (fragment === undefined) return nothing;
    measured.set(name, null);
    const size = sizeOf(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
    measured.set(name, size);
    return size;
  }

  function sizeOfField(node: FieldNode, parent: GraphQLNamedType | undefined): SelectionSize {
    const name = node.name.value;
    const field = isCompositeType(parent) ? schema.getField(parent, name) : undefined;
    const type = field === undefined ? undefined : getNamedType(field.type);
    const inner = node.selectionSet === undefined ? nothing : sizeOf(node.selectionSet, type);
    const list = field !== undefined && isListType(getNullableType(field.type)) && isCompositeType(type);
    return {
      depth: name.startsWith('__') ? 0 : inner.depth + 1,
      aliases: inner.aliases + (node.alias === undefined ? 0 : 1),
      cost: inner.cost + costs.field + (list ? costs.list : 0) + (isRoot(parent) ? costs.root : 0),
      names: new Map([[node.alias?.value ?? name, 1]]),
    };
  }

  function sizeOf({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): SelectionSize {
    const total = { depth: 0, aliases: 0, cost: 0, names: new Map<string, number>() };
    for (const node of selections) {
      if (node.kind === Kind.FIELD) add(total, sizeOfField(node, parent));
      else if (node.kind === Kind.FRAGMENT_SPREAD) add(total, sizeOfFragment(node.name.value));
      else add(total, sizeOf(node.selectionSet, conditionOf(schema, node.typeCondition?.name.value, parent)));
      if (total.cost > maxCost) throw tooExpensive(total.cost, maxCost);
    }
    return total;
  }

  return (definition) => {
    const isFragment = definition.kind === Kind.FRAGMENT_DEFINITION;
    const type = isFragment
      ? schema.getType(definition.typeCondition.name.value)
      : schema.getRootType(definition.operation);
    return sizeOf(definition.selectionSet, type ?? undefined);
  };
}

function conditionOf(schema: GraphQLSchema, name: string | undefined, parent: GraphQLNamedType | undefined) {
  return name === undefined ? parent : schema.getType(name);
}

const nothing: SelectionSize = { depth: 0, aliases: 0, cost: 0, names: new Map() };

interface GrowingSize {
  depth: number;
  aliases: number;
  cost: number;
  readonly names: Map<string, number>;
}

function add(total: GrowingSize, { depth, aliases, cost, names }: SelectionSize): void {
  total.depth = Math.max(total.depth, depth);
  total.aliases += aliases;
  total.cost += cost;
  for (const [name, count] of names) {
    const present = total.names.get(name) ?? 0;
    total.cost += present * count;
    total.names.set(name, present + count);
  }
}

/** Throws INVALID_QUERY for an operation beyond a limit; its cost was judged when it was measured. */
export function refuseLarge({ depth, aliases, names }: SelectionSize, limits: OperationLimits): void {
  const rootFields = [...names.values()].reduce((sum, count) => sum + count, 0);
  const excess =
    (depth > limits.depth && `nests deeper than ${limits.depth} fields`) ||
    (rootFields > limits.rootFields && `has more than ${limits.rootFields} root fields`) ||
    (aliases > limits.aliases && `has more than ${limits.aliases} aliases`);
  if (excess) throw new DocumentError(`The operation ${excess}.`);
}

function tooExpensive(cost: number, maxCost: number): DocumentError {
  return new DocumentError(`The operation costs more than ${maxCost}: at least ${cost}.`);
}
