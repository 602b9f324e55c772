/** Answers `__schema` and `__type` by graphql-js, from the schema of the caller alone. */

import {
  type DocumentNode,
  executeSync,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getIntrospectionQuery,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { findOrCreate } from '../../language/values/once.ts';
import { fragmentsOf } from '../compile/collect.ts';
import { DocumentError } from './document-errors.ts';

/** Multiple of what the query of usual tools asks for that one introspection may ask for. */
const maxTimes = 2;

/** The values of the introspection fields at the root, as JSON text by response name; skipped ones are absent. */
export function answerIntrospection(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> {
  const fragments = fragmentsOf(document);
  const only = { ...operation, selectionSet: introspective(operation.selectionSet, fragments) };
  const definitions = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const { data } = executeSync({
    schema,
    document: { ...document, definitions: [only, ...definitions] },
    variableValues: variables,
  });
  return new Map(Object.entries(data ?? {}).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** The selection with nothing at its root but introspection; fragments there become inline. */
function introspective(
  { selections, ...rest }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): SelectionSetNode {
  const kept = selections.flatMap((node): readonly SelectionNode[] => {
    if (node.kind === Kind.FIELD) return isIntrospection(node.name.value) ? [node] : [];
    const { directives = [] } = node;
    const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    return inner === undefined
      ? []
      : [{ kind: Kind.INLINE_FRAGMENT, directives, selectionSet: introspective(inner.selectionSet, fragments) }];
  });
  return { ...rest, selections: kept };
}

/** True if a root field describes the schema. `__typename` is no more than a name. */
function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type';
}

/** Judges introspections of one schema. Throws INVALID_QUERY for one whose answer would be larger than tools need. */
export type IntrospectionCheck = (document: DocumentNode, operation: OperationDefinitionNode) => void;

/** Makes the judge of a schema, which is made when it is first asked about. */
export function createIntrospectionCheck(schema: () => GraphQLSchema): IntrospectionCheck {
  let many: ReadonlyMap<string, number> | undefined;
  let limit: number | undefined;
  return function judge(document, operation) {
    if (valuesIn(new Map(), document, operation) === 0) return;
    many ??= multiplicities(schema());
    const requested = valuesIn(many, document, operation);
    limit ??= maxTimes * usualValues(many);
    if (requested > limit) throw new DocumentError('The operation asks for more of the schema than tools need.');
  };
}

function usualValues(many: ReadonlyMap<string, number>): number {
  const options = { directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true, schemaDescription: true };
  const usual = parse(getIntrospectionQuery({ ...options, specifiedByUrl: true }));
  const [operation] = usual.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operation === undefined ? 0 : valuesIn(many, usual, operation);
}

/** Average numbers of elements, by the field of introspection that lists them. */
function multiplicities(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const types = Object.values(schema.getTypeMap());
  let fields = 0;
  let args = 0;
  for (const type of types) {
    if (!('getFields' in type)) continue;
    const typeFields = Object.values(type.getFields());
    fields += typeFields.length;
    for (const field of typeFields) if ('args' in field) args += field.args.length;
  }
  const perType = Math.ceil(fields / types.length);
  return new Map([
    ['types', types.length],
    ['directives', schema.getDirectives().length],
    ['fields', perType],
    ['inputFields', perType],
    ['args', Math.ceil(args / Math.max(1, fields))],
  ]);
}

/** Estimates how many values the introspection in an operation answers. */
function valuesIn(
  many: ReadonlyMap<string, number>,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): number {
  const fragments = fragmentsOf(document);
  const counts = new Map<string, number>();

  function ofFragment(name: string, isRoot: boolean): number {
    const key = isRoot ? `root ${name}` : name;
    return findOrCreate(counts, key, () => of(fragments.get(name)?.selectionSet, isRoot));
  }

  function of(set: SelectionSetNode | undefined, isRoot: boolean): number {
    let total = 0;
    for (const node of set?.selections ?? []) {
      if (node.kind === Kind.FRAGMENT_SPREAD) total += ofFragment(node.name.value, isRoot);
      else if (node.kind === Kind.INLINE_FRAGMENT) total += of(node.selectionSet, isRoot);
      else if (!isRoot || isIntrospection(node.name.value)) {
        total += 1 + (many.get(node.name.value) ?? 1) * of(node.selectionSet, false);
      }
    }
    return total;
  }

  return of(operation.selectionSet, true);
}
