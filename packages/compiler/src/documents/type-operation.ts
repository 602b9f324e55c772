/** GraphQL operations → the types of their answers and variables, for whoever asks by typed document nodes. */
import type {
  FragmentDefinitionNode,
  GraphQLCompositeType,
  GraphQLInputType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';
import type { TypeDeclaration } from '../print/declaration.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { array, list, nullable, type Type, type TypeMember, union } from '../print/type.ts';
import { loadGraphql } from './load-graphql.ts';

/** The types of one operation, and of the inputs that its variables name. */
export interface OperationTypes {
  readonly result: Type;
  readonly variables: Type;
  readonly inputs: readonly TypeDeclaration[];
}

interface Typing {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** Types a valid operation. */
export function typeOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
): OperationTypes {
  const { typeFromAST, isInputType } = loadGraphql();
  const typing = { schema, fragments: new Map(fragments.map((one) => [one.name.value, one])) };
  const root = schema.getRootType(operation.operation);
  const inputs = new Map<string, TypeDeclaration>();
  const members = (operation.variableDefinitions ?? []).flatMap((one): readonly TypeMember[] => {
    const type = typeFromAST(schema, one.type);
    if (!isInputType(type)) return [];
    const optional = one.defaultValue !== undefined || !loadGraphql().isNonNullType(type);
    return [{ name: propertyKey(one.variable.name.value), optional, type: inputType(type, inputs) }];
  });
  return {
    result: root ? objectType(typing, root, [operation.selectionSet]) : nothing,
    variables: members.length === 0 ? nothing : { kind: 'object', of: members },
    inputs: [...inputs.values()],
  };
}

const nothing = 'Record<never, never>';

/** Scalars as JSON has them. */
const scalars: Readonly<Record<string, { readonly sent: Type; readonly taken: Type }>> = {
  Boolean: same('boolean'),
  Date: same('string'),
  Decimal: { sent: 'string', taken: union('string', 'number') },
  Float: same('number'),
  GraphQLBigInt: { sent: 'string', taken: union('string', 'number') },
  GraphQLStringOrFloat: same(union('string', 'number')),
  Hash: same('string'),
  ID: { sent: 'string', taken: union('string', 'number') },
  Int: same('number'),
  String: same('string'),
  Void: same('null'),
};

function same(type: Type): { readonly sent: Type; readonly taken: Type } {
  return { sent: type, taken: type };
}

/** Null stands where nothing says that it does not. */
function outputType(typing: Typing, type: GraphQLOutputType, below: readonly SelectionSetNode[]): Type {
  const { isNonNullType } = loadGraphql();
  return isNonNullType(type) ? present(typing, type.ofType, below) : nullable(present(typing, type, below));
}

function present(typing: Typing, type: GraphQLOutputType, below: readonly SelectionSetNode[]): Type {
  const { getNamedType, isCompositeType, isEnumType, isListType, isObjectType } = loadGraphql();
  if (isListType(type)) return array(outputType(typing, type.ofType, below));
  if (isEnumType(type)) return union(...type.getValues().map(({ name }) => stringLiteral(name)));
  if (isObjectType(type)) return objectType(typing, type, below);
  if (isCompositeType(type)) return union(...possible(typing, type).map((one) => objectType(typing, one, below)));
  return scalars[getNamedType(type).name]?.sent ?? 'unknown';
}

function possible({ schema }: Typing, type: GraphQLCompositeType): readonly GraphQLObjectType[] {
  const { isAbstractType } = loadGraphql();
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [];
}

function objectType(typing: Typing, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Type {
  const found = sets.flatMap((set) => fieldsIn(typing, type, set.selections, false));
  const groups = [...Map.groupBy(found, ({ field }) => field.alias?.value ?? field.name.value)];
  const members = groups.flatMap(([name, asked]): readonly TypeMember[] => {
    const [first] = asked;
    const optional = asked.every((one) => one.conditional);
    if (first?.field.name.value === '__typename') {
      return [{ name: propertyKey(name), optional, type: stringLiteral(type.name) }];
    }
    const field = type.getFields()[first?.field.name.value ?? ''];
    if (field === undefined) return [];
    const below = asked.flatMap((one) => one.field.selectionSet ?? []);
    return [{ name: propertyKey(name), optional, type: outputType(typing, field.type, below) }];
  });
  return members.length === 0 ? nothing : { kind: 'object', of: members };
}

interface Asked {
  readonly field: Extract<SelectionNode, { kind: 'Field' }>;
  /** Whether a directive may leave it out. */
  readonly conditional: boolean;
}

/** The fields that are selected of an object of this type, those of fragments included. */
function fieldsIn(
  typing: Typing,
  type: GraphQLObjectType,
  selections: readonly SelectionNode[],
  above: boolean,
): readonly Asked[] {
  const { Kind } = loadGraphql();
  return selections.flatMap((one): readonly Asked[] => {
    const conditional =
      above || (one.directives ?? []).some(({ name }) => name.value === 'include' || name.value === 'skip');
    if (one.kind === Kind.FIELD) return [{ field: one, conditional }];
    const fragment = one.kind === Kind.FRAGMENT_SPREAD ? typing.fragments.get(one.name.value) : one;
    if (fragment === undefined) return [];
    const name = fragment.typeCondition?.name.value;
    const applies = name === undefined || isOf(typing, type, name);
    return applies ? fieldsIn(typing, type, fragment.selectionSet.selections, conditional) : [];
  });
}

function isOf({ schema }: Typing, type: GraphQLObjectType, name: string): boolean {
  const { isAbstractType } = loadGraphql();
  const condition = schema.getType(name);
  return type.name === name || (isAbstractType(condition) && schema.isSubType(condition, type));
}

/** What a variable or a member of an input takes; interfaces of the inputs in it are added to `inputs`. */
function inputType(type: GraphQLInputType, inputs: Map<string, TypeDeclaration>): Type {
  const { isEnumType, isInputObjectType, isListType, isNonNullType } = loadGraphql();
  if (!isNonNullType(type)) return nullable(filled(type));
  return filled(type.ofType);

  function filled(own: GraphQLInputType): Type {
    if (isListType(own)) return list(inputType(own.ofType, inputs));
    if (isEnumType(own)) return union(...own.getValues().map(({ name }) => stringLiteral(name)));
    if (!isInputObjectType(own)) return 'name' in own ? (scalars[own.name]?.taken ?? 'unknown') : 'unknown';
    if (inputs.has(own.name)) return own.name;
    // It may lead back to itself.
    inputs.set(own.name, { kind: 'alias', name: own.name, notes: [], type: 'never' });
    const members = Object.values(own.getFields()).map((field) => ({
      name: field.name,
      optional: !isNonNullType(field.type) || field.default !== undefined,
      notes: [field.description ?? null],
      type: inputType(field.type, inputs),
    }));
    inputs.set(own.name, { kind: 'interface', name: own.name, notes: [own.description ?? null], members });
    return own.name;
  }
}
