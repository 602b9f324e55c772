/** From the text of a document to one operation that can be compiled: parse, choose, measure, validate. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  VariablesInAllowedPositionRule,
  validate,
  visit,
} from 'graphql';
import type { DocumentLimits, OperationLimits } from '../../environment/requests.ts';
import { PlatformError } from '../../errors.ts';
import { isStorableText } from '../../language/index.ts';
import { costs } from '../../query/plan/cost.ts';
import { fragmentsOf } from '../compile/collect.ts';
import { DocumentError, documentError } from './document-errors.ts';
import type { ScopeSchema } from './schemas.ts';
import { variablesInAllowedPosition } from './wide-values.ts';

export interface DocumentRequest {
  readonly text: string;
  /** Null: the only operation of the document. */
  readonly operationName: string | null;
  /** Set where only queries may run, as over GET. */
  readonly queriesOnly: boolean;
}

interface CheckedDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Most faults of one document that are told. */
const maxErrors = 20;

/**
 * Checks a document. Throws INVALID_QUERY for one that cannot be parsed, is too large or is not valid. Names that are
 * hidden and names that do not exist give the same bytes; METHOD_NOT_ALLOWED for a mutation where only queries may run.
 */
export function checkDocument(schema: ScopeSchema, request: DocumentRequest, limits: DocumentLimits): CheckedDocument {
  try {
    const document = parseDocument(request.text, limits);
    const operation = chooseOperation(document, request.operationName);
    if (request.queriesOnly) refuseMutation(operation);
    const measure = measureIn(schema.schema, document, limits.cost);
    refuseLarge(measure(operation), limits);
    refuseExpensive(document, operation, measure);
    if (limits.introspection) schema.introspectionCheck(document, operation);
    const rules = limits.introspection ? openRules : closedRules;
    const problem = documentError(
      validate(schema.schema, document, rules, {
        hideSuggestions: true,
        maxErrors,
        allowEmptySelectionSets: false,
      }),
    );
    if (problem !== undefined) throw problem;
    return { document, operation };
  } catch (thrown) {
    if (thrown instanceof GraphQLError) throw documentError([thrown]);
    // The parser, and what walks through its tree, goes as deep as the text nests.
    if (thrown instanceof RangeError) throw new DocumentError('The document nests too deep.');
    throw thrown;
  }
}

/** Throws METHOD_NOT_ALLOWED unless an operation is a query. */
export function refuseMutation({ operation }: Pick<OperationDefinitionNode, 'operation'>): void {
  if (operation !== 'query')
    throw new PlatformError('METHOD_NOT_ALLOWED', undefined, {}, { headers: { allow: 'POST' } });
}

/** Fragments of one document, each of which validation may compare with every other. */
const maxFragments = 200;

/** Definitions that do not run are validated all the same, so the limits of cost apply to them, too. */
function refuseExpensive({ definitions }: DocumentNode, running: OperationDefinitionNode, measure: Measure): void {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  if (fragments.length > maxFragments) throw new DocumentError(`The document has more than ${maxFragments} fragments.`);
  for (const node of definitions) {
    if (node === running) continue;
    if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) measure(node);
  }
}

const openRules = specifiedRules.map((rule) =>
  rule === VariablesInAllowedPositionRule ? variablesInAllowedPosition : rule,
);

const closedRules = [...openRules, NoSchemaIntrospectionCustomRule];

function parseDocument(text: string, { tokens }: DocumentLimits): DocumentNode {
  const document = parse(text, { maxTokens: tokens, allowEmptySelectionSets: false });
  if (text.includes('\\u')) refuseUnstorable(document);
  return document;
}

/** Requests hold no unusable text (specification, section 1.3), but an escape in a literal can write some. */
function refuseUnstorable(document: DocumentNode): void {
  visit(document, {
    StringValue({ value }) {
      if (!isStorableText(value)) throw new DocumentError('The document holds U+0000 or half of a surrogate pair.');
    },
  });
}

function chooseOperation({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode {
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const named = name === null ? operations : operations.filter((node) => node.name?.value === name);
  const [operation, another] = named;
  if (operation === undefined) {
    throw new DocumentError(name === null ? 'The document has no operation.' : 'The document has no such operation.');
  }
  // Validation reports two operations of one name.
  if (name === null && another !== undefined) {
    throw new DocumentError('The document has several operations: "operationName" must say which one.');
  }
  return operation;
}

interface SelectionSize {
  readonly depth: number;
  readonly aliases: number;
  readonly cost: number;
  /** Its own fields by the name they are answered under. */
  readonly names: ReadonlyMap<string, number>;
}

/** Measures a document. Throws INVALID_QUERY for a fragment that spreads itself, and for what costs too much. */
type Measure = (definition: OperationDefinitionNode | FragmentDefinitionNode) => SelectionSize;

/**
 * Makes what measures the definitions of a document. A selection costs 1 for each field, and 10 more for each list of
 * items and each root field. Each two fields that are answered under one name cost 1 more: these have to be compared
 * with each other. Unknown names count as fields without a type.
 */
function measureIn(schema: GraphQLSchema, document: DocumentNode, maxCost: number): Measure {
  const fragments = fragmentsOf(document);
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
function refuseLarge({ depth, aliases, names }: SelectionSize, limits: OperationLimits): void {
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

/** Parses the text of an operation that was valid when it was compiled. */
export function parseKnown(text: string): CheckedDocument {
  const document = parse(text);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('The document has no operation.');
  return { document, operation };
}
