/** From the text of a document to one operation that can be compiled: parse, choose, measure, validate. */
import {
  type DocumentNode,
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import type { DocumentLimits } from '../../environment/requests.ts';
import { PlatformError } from '../../errors.ts';
import { isStorableText } from '../../language/index.ts';
import { DocumentError, documentError } from './document-errors.ts';
import { type Measure, measureIn, refuseLarge } from './document-limits.ts';
import type { ScopeSchema } from './schemas.ts';

/** Document of a request. */
export interface DocumentRequest {
  readonly text: string;
  /** Null: the only operation of the document. */
  readonly operationName: string | null;
  /** Set where only queries may run, as over GET. */
  readonly queriesOnly: boolean;
}

/** An operation of a valid document. */
export interface CheckedDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Most faults of one document that are told. */
const maxErrors = 20;

/**
 * Checks a document. Throws INVALID_QUERY for one that cannot be parsed, is too large or is not valid. Names that are
 * hidden and names that do not exist give the same bytes; METHOD_NOT_ALLOWED for a mutation where only queries may run.
 */
export function checkDocument(
  schema: ScopeSchema,
  requested: DocumentRequest,
  limits: DocumentLimits,
): CheckedDocument {
  try {
    const document = parseDocument(requested.text, limits);
    const operation = chooseOperation(document, requested.operationName);
    if (requested.queriesOnly) refuseMutation(operation);
    const measure = measureIn(schema.schema, document, limits.cost);
    refuseLarge(measure(operation), limits);
    refuseExpensive(document, operation, measure);
    if (limits.introspection) schema.introspectionCheck(document, operation);
    const rules = limits.introspection ? specifiedRules : closedRules;
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

const closedRules = [...specifiedRules, NoSchemaIntrospectionCustomRule];

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
