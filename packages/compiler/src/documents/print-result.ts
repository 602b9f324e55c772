/** The types of what documents answer. */
import type {
  DirectiveNode,
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';
import { loadGraphql } from '../print/libraries.ts';

/** Context of printing a document. */
interface Printing {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** A member of an answer: the fields of one response name, and whether a directive may leave all of them out. */
interface ResultMember {
  readonly fields: { readonly node: FieldNode; readonly optional: boolean }[];
  optional: boolean;
}

/** A selection of an item, and whether a directive may leave it out while another one stays. */
interface Chosen {
  readonly set: SelectionSetNode;
  readonly optional: boolean;
}

/** The type of the data that an operation of a valid document answers. */
export function printResult(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): string {
  const { Kind } = loadGraphql();
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const to: Printing = { schema, fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])) };
  const type = schema.getRootType(operation.operation);
  return type ? printObject(to, type, [{ set: operation.selectionSet, optional: false }]) : 'unknown';
}

function printObject(to: Printing, type: GraphQLObjectType, sets: readonly Chosen[]): string {
  const members = new Map<string, ResultMember>();
  for (const { set, optional } of sets) collect(to, type, set, optional, members);
  const printed = [...members].map(([key, { fields, optional }]) => {
    return `${key}${optional ? '?' : ''}: ${printField(to, type, fields)}`;
  });
  return printed.length === 0 ? '{ [name: string]: never }' : `{ ${printed.join('; ')} }`;
}

function collect(
  to: Printing,
  type: GraphQLObjectType,
  set: SelectionSetNode,
  optional: boolean,
  members: Map<string, ResultMember>,
): void {
  const { Kind } = loadGraphql();
  for (const selection of set.selections) {
    const perhaps = optional || isConditional(selection.directives);
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const member = members.get(key) ?? { fields: [], optional: true };
      member.fields.push({ node: selection, optional: perhaps });
      member.optional &&= perhaps;
      members.set(key, member);
      continue;
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : to.fragments.get(selection.name.value);
    if (fragment === undefined || !applies(to.schema, fragment.typeCondition?.name.value, type)) continue;
    collect(to, type, fragment.selectionSet, perhaps, members);
  }
}

function isConditional(directives: readonly DirectiveNode[] = []): boolean {
  return directives.some(({ name }) => name.value === 'include' || name.value === 'skip');
}

function applies(schema: GraphQLSchema, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const { isAbstractType } = loadGraphql();
  const requested = schema.getType(condition);
  return isAbstractType(requested) && schema.isSubType(requested, type);
}

function printField(to: Printing, type: GraphQLObjectType, fields: ResultMember['fields']): string {
  const first = fields[0]?.node;
  if (first?.name.value === '__typename') return JSON.stringify(type.name);
  const declared = type.getFields()[first?.name.value ?? ''];
  const sets = fields.flatMap(({ node: { selectionSet: set }, optional }): Chosen | readonly [] => {
    return set === undefined ? [] : { set, optional: optional && fields.length > 1 };
  });
  return declared === undefined ? 'unknown' : printType(to, declared.type, sets);
}

function printType(to: Printing, type: GraphQLOutputType, sets: readonly Chosen[]): string {
  const { getNullableType, isListType, isNonNullType } = loadGraphql();
  const inner = getNullableType(type);
  const orNull = isNonNullType(type) ? '' : ' | null';
  if (isListType(inner)) return `(${printType(to, inner.ofType, sets)})[]${orNull}`;
  return `${printNamed(to, inner, sets)}${orNull}`;
}

/** Types of scalars in results: text where digits matter. */
const outputScalars: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  String: 'string',
  Date: 'string',
  Hash: 'string',
  ID: 'string',
  GraphQLBigInt: 'string',
  Decimal: 'string',
  GraphQLStringOrFloat: 'string | number',
  Void: 'null',
  GeoJSON: 'Geometry',
  Vector: 'readonly number[]',
};

function printNamed(to: Printing, type: GraphQLNamedType, sets: readonly Chosen[]): string {
  const { isAbstractType, isEnumType, isObjectType } = loadGraphql();
  if (isObjectType(type)) return printObject(to, type, sets);
  if (isAbstractType(type)) {
    return to.schema
      .getPossibleTypes(type)
      .map((type) => printObject(to, type, sets))
      .join(' | ');
  }
  if (isEnumType(type))
    return type
      .getValues()
      .map(({ name }) => JSON.stringify(name))
      .join(' | ');
  return outputScalars[type.name] ?? 'unknown';
}
