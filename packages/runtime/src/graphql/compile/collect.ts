/** Fields of selections as they are answered: fragments spread, equal response names merged, directives judged. */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { createBoundedCache } from '../../language/values/bounded-cache.ts';
import type { OperationSource } from '../documents/operation.ts';
import type { Variables } from './input.ts';

/** One response name with every place that asks for it; their arguments are equal, as the document is valid. */
export interface CollectedField {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
}

/** Selection sets of an object, wherever it was asked for. */
export type Sets = readonly (SelectionSetNode | undefined)[];

export interface Collecting {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Returns true if the variable of `@skip` or `@include` is true; null includes everything. */
  readonly isTrue: ((variable: string) => boolean) | null;
}

/** The fragments of a document by their names. */
export function fragmentsOf({ definitions }: DocumentNode): Collecting['fragments'] {
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
}

/** The variables that decide what a document selects, each once. */
function conditionVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      const value = conditionOf(node);
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}

function conditionOf({ name, arguments: argumentNodes = [] }: DirectiveNode) {
  if (name.value !== 'skip' && name.value !== 'include') return undefined;
  return argumentNodes.find((argument) => argument.name.value === 'if')?.value;
}

/**
 * Collects what is selected of an object of a type, in the order of the answer (specification of GraphQL, 6.3.2). The
 * sets are those of all fields that were merged.
 */
export function collectFields(collecting: Collecting, type: GraphQLNamedType, sets: Sets): readonly CollectedField[] {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  const spread = new Set<string>();
  for (const set of sets) if (set !== undefined) collectInto(fields, spread, collecting, type, set);
  return [...fields].map(([key, nodes]) => ({ key, name: nodes[0].name.value, nodes }));
}

function collectInto(
  fields: Map<string, [FieldNode, ...FieldNode[]]>,
  spread: Set<string>,
  collecting: Collecting,
  type: GraphQLNamedType,
  { selections }: SelectionSetNode,
): void {
  for (const selection of selections) {
    if (!isIncluded(collecting, selection.directives ?? [])) continue;
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const nodes = fields.get(key);
      if (nodes === undefined) fields.set(key, [selection]);
      else nodes.push(selection);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      if (condition === undefined || applies(collecting, condition, type)) {
        collectInto(fields, spread, collecting, type, selection.selectionSet);
      }
    } else if (!spread.has(selection.name.value)) {
      spread.add(selection.name.value);
      const fragment = collecting.fragments.get(selection.name.value);
      if (fragment !== undefined && applies(collecting, fragment.typeCondition.name.value, type)) {
        collectInto(fields, spread, collecting, type, fragment.selectionSet);
      }
    }
  }
}

function isIncluded({ isTrue }: Collecting, directives: readonly DirectiveNode[]): boolean {
  if (isTrue === null) return true;
  return directives.every((directive) => {
    const value = conditionOf(directive);
    if (value === undefined) return true;
    const holds = value.kind === Kind.VARIABLE ? isTrue(value.name.value) : value.kind === Kind.BOOLEAN && value.value;
    return holds === (directive.name.value === 'include');
  });
}

function applies({ schema }: Collecting, condition: string, type: GraphQLNamedType): boolean {
  if (condition === type.name) return true;
  const abstract = schema.getType(condition);
  return isAbstractType(abstract) && isObjectType(type) && schema.isSubType(abstract, type);
}

/** One set of values, with what documents are collected with under it. */
export interface Variant {
  readonly collecting: Collecting;
  /** One character per variable. */
  readonly name: string;
}

/** Sets of values kept per operation: at most twice as many. */
const maxVariants = 8;

/** Makes what finds the compiled form for the variables of a request, each made when it is first asked for. */
export function createVariants<T>(
  { document, schema }: OperationSource,
  compile: (variant: Variant) => T,
): (variables: Variables) => T {
  const names = conditionVariables(document);
  const fragments = fragmentsOf(document);
  const cache = createBoundedCache<T>(maxVariants);
  let only: T | undefined;

  function create(variables: Variables, name: string): T {
    const isTrue = (variable: string): boolean => variables[variable] === true;
    const compiled = compile({ collecting: { schema: schema.schema, fragments, isTrue }, name });
    if (names.length === 0) only = compiled;
    else cache.set(name, compiled);
    return compiled;
  }

  return function find(variables) {
    if (only !== undefined) return only;
    const name = names.map((variable) => (variables[variable] === true ? '1' : '0')).join('');
    return cache.get(name) ?? create(variables, name);
  };
}

/** Context that collects a document as if every condition included its fields. */
export function collectingAll(document: DocumentNode, schema: Collecting['schema']): Collecting {
  return { schema, fragments: fragmentsOf(document), isTrue: null };
}
