/** A schema whose types are made when a document names them: a first document costs what it mentions. */

import {
  assertInputType,
  assertNullableType,
  assertObjectType,
  assertOutputType,
  type DefinitionNode,
  type FieldDefinitionNode,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  type GraphQLType,
  GraphQLUnionType,
  type InputValueDefinitionNode,
  introspectionTypes,
  isLeafType,
  isObjectType,
  Kind,
  parse,
  specifiedScalarTypes,
  type TypeNode,
} from 'graphql';
import { endOfLine } from '../../language/descriptors/class-documents.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { wideElement, wideFloat } from './wide-values.ts';

type FindType = (name: string) => GraphQLNamedType | undefined;

export interface RootNames {
  readonly query: string;
  readonly mutation: string;
}

/** Schema of two root types over types that are made when they are first asked for. */
export class LazySchema extends GraphQLSchema {
  readonly #find: FindType;
  readonly #roots: RootNames;
  readonly #types: Record<string, GraphQLNamedType>;

  constructor(find: FindType, roots: RootNames) {
    super({ assumeValid: true });
    this.#find = find;
    this.#roots = roots;
    this.#types = lazyMap(find);
  }

  override getQueryType(): GraphQLObjectType | undefined {
    return rootOf(this.#find(this.#roots.query));
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return rootOf(this.#find(this.#roots.mutation));
  }

  override getTypeMap(): Record<string, GraphQLNamedType> {
    return this.#types;
  }
}

function rootOf(type: GraphQLNamedType | undefined): GraphQLObjectType | undefined {
  return isObjectType(type) ? type : undefined;
}

/** Members that are found when they are read, or asked about; their names cannot be listed. */
function lazyMap<Member>(find: (name: string) => Member | undefined): Record<string, Member> {
  const target: Record<string, Member> = Object.create(null);
  const get = (_: object, name: string | symbol): Member | undefined =>
    typeof name === 'string' ? find(name) : undefined;
  return new Proxy<Record<string, Member>>(target, {
    get,
    getOwnPropertyDescriptor(_, name) {
      const value = get(target, name);
      return value === undefined ? undefined : { value, configurable: true, enumerable: true, writable: true };
    },
  });
}

/** Root type, of whose thousands of fields a document names few. */
class RootType extends GraphQLObjectType {
  readonly #fields: Record<string, GraphQLField>;

  /** Takes the text of each field, and a function that reads the type around such a text. */
  constructor(name: string, texts: ReadonlyMap<string, string>, read: (source: string) => Fields) {
    super({ name, fields: {} });
    const made = new Map<string, GraphQLField | undefined>();
    this.#fields = lazyMap((field) => {
      const text = texts.get(field);
      if (text === undefined || made.has(field)) return made.get(field);
      const fields = new GraphQLObjectType({ name, fields: read(`type ${name} {\n${text}}`) }).getFields();
      made.set(field, fields[field]);
      return fields[field];
    });
  }

  override getFields(): Record<string, GraphQLField> {
    return this.#fields;
  }
}

type Fields = Record<string, GraphQLFieldConfig<unknown, unknown>>;

/** Names of types of payloads, and of composite values in them. */
const payloads = /^(?:create|update)_\w+_input$|_composite_input$/;

/** Types in the text of a schema, each made when it is first asked for. Each field stands on a line of its own. */
export class SchemaTypes {
  readonly #text: string;
  readonly #roots: ReadonlySet<string>;
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #made = new Map<string, GraphQLNamedType>();

  constructor(text: string, roots: ReadonlySet<string>) {
    this.#text = text;
    this.#roots = roots;
    this.#definitions = definitionsIn(text);
    for (const type of [...specifiedScalarTypes, wideFloat, ...introspectionTypes]) this.#made.set(type.name, type);
  }

  find(name: string): GraphQLNamedType | undefined {
    const definition = this.#definitions.get(name);
    if (definition === undefined) return this.#made.get(name);
    return findOrCreate(this.#made, name, () => this.#create(name, definition));
  }

  #create(name: string, { kind, from }: Definition): GraphQLNamedType {
    const source = (): string => this.#text.slice(from, endOfDefinition(this.#text, from));
    switch (kind) {
      case 'type':
        if (this.#roots.has(name)) return new RootType(name, fieldTexts(source()), (text) => this.#readFields(text));
        return new GraphQLObjectType({ name, fields: () => this.#readFields(source()) });
      case 'input':
        return new GraphQLInputObjectType({ name, fields: () => this.#readInputs(source()) });
      case 'union':
        return new GraphQLUnionType({ name, types: () => this.#readMembers(source()) });
      case 'enum':
        return new GraphQLEnumType({ name, values: readValues(source()) });
      default:
        return new GraphQLScalarType({ name });
    }
  }

  #typeOf(node: TypeNode): GraphQLType {
    if (node.kind === Kind.LIST_TYPE) return new GraphQLList(this.#typeOf(node.type));
    if (node.kind === Kind.NON_NULL_TYPE) return new GraphQLNonNull(assertNullableType(this.#typeOf(node.type)));
    return this.#existing(node.name.value);
  }

  #existing(name: string): GraphQLNamedType {
    const type = this.find(name);
    if (type === undefined) throw new Error(`The schema names the type ${name}, which it does not have.`);
    return type;
  }

  readonly #inputOf = ({ type }: InputValueDefinitionNode): GraphQLInputFieldConfig => ({
    type: assertInputType(this.#typeOf(type)),
  });

  /** Fields of payloads: a list of leaves is one of an array. */
  readonly #payloadOf = ({ type }: InputValueDefinitionNode): GraphQLInputFieldConfig => {
    const nullable = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
    const node = nullable.kind === Kind.LIST_TYPE && nullable.type.kind === Kind.NAMED_TYPE ? nullable.type : undefined;
    const element = node && this.#existing(node.name.value);
    if (!isLeafType(element)) return { type: assertInputType(this.#typeOf(type)) };
    const list = new GraphQLList(wideElement(element));
    return { type: nullable === type ? list : new GraphQLNonNull(list) };
  };

  readonly #fieldOf = ({ type, arguments: args = [] }: FieldDefinitionNode): Fields[string] => ({
    type: assertOutputType(this.#typeOf(type)),
    args: byName(args, this.#inputOf),
  });

  #readFields(source: string): Fields {
    const node = parseDefinition(source);
    return byName(node.kind === Kind.OBJECT_TYPE_DEFINITION ? node.fields : [], this.#fieldOf);
  }

  #readInputs(source: string): Record<string, GraphQLInputFieldConfig> {
    const node = parseDefinition(source);
    if (node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION) return {};
    return byName(node.fields, payloads.test(node.name.value) ? this.#payloadOf : this.#inputOf);
  }

  #readMembers(source: string): readonly GraphQLObjectType[] {
    const node = parseDefinition(source);
    const members = node.kind === Kind.UNION_TYPE_DEFINITION ? (node.types ?? []) : [];
    return members.map(({ name }) => assertObjectType(this.#existing(name.value)));
  }
}

function readValues(source: string): Record<string, Record<string, never>> {
  const node = parseDefinition(source);
  return byName(node.kind === Kind.ENUM_TYPE_DEFINITION ? node.values : [], () => ({}));
}

function byName<Node extends { readonly name: { readonly value: string } }, Value>(
  nodes: readonly Node[] = [],
  read: (node: Node) => Value,
): Record<string, Value> {
  return Object.fromEntries(nodes.map((node) => [node.name.value, read(node)]));
}

function parseDefinition(source: string): DefinitionNode {
  const [definition] = parse(source, { noLocation: true }).definitions;
  if (definition === undefined) throw new Error('The text of a type defines nothing.');
  return definition;
}

interface Definition {
  readonly kind: string;
  readonly from: number;
}

/** Definitions begin a line; descriptions begin with a quote, and everything else is indented. */
function definitionsIn(text: string): ReadonlyMap<string, Definition> {
  const found = text.matchAll(/^(type|input|union|enum|scalar) (\w+)/gm);
  return new Map([...found].map(({ 1: kind = '', 2: name = '', index }) => [name, { kind, from: index }]));
}

function endOfDefinition(text: string, from: number): number {
  const line = endOfLine(text, from);
  if (text.endsWith('{', line)) return text.indexOf('\n}', line) + 2;
  let end = line;
  while (text.startsWith('\n ', end)) end = endOfLine(text, end + 1);
  return end;
}

/** Text of each field of a type by its name: its line, and lines below it that are further in. */
function fieldTexts(source: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let current = '';
  for (const line of source.split('\n')) {
    const name = /^ {2}(\w+)/.exec(line)?.[1];
    if (name !== undefined) current = name;
    if (name !== undefined || line.startsWith('    ')) texts.set(current, `${texts.get(current) ?? ''}${line}\n`);
  }
  return texts;
}
