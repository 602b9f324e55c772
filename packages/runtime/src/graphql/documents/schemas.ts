/** The schemas of access classes, each made of its text when it is first asked for: starting a server costs nothing. */

import {
  buildASTSchema,
  type ConstValueNode,
  GraphQLError,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  isScalarType,
  Kind,
  parse,
  printSchema,
  type ValueNode,
} from 'graphql';
import { type CompiledApi, type GraphqlScope, graphqlRootTypes, type JsonValue } from '../../language/index.ts';
import { derivedOnce } from '../../language/values/once.ts';
import { isJson } from '../compile/input.ts';
import { createIntrospectionCheck, type IntrospectionCheck } from './introspection.ts';
import { LazySchema, type RootNames, SchemaTypes } from './lazy-schema.ts';

export interface ScopeSchema {
  readonly accessClass: string;
  readonly scope: GraphqlScope;
  /** Its types cannot be listed: each is made when it is first named. */
  readonly schema: GraphQLSchema;
  /** The schema with all types, for introspection. */
  readonly described: () => GraphQLSchema;
  readonly introspectionCheck: IntrospectionCheck;
}

/** Finds the schema of an access class in a scope: at once when it was made before. Rejects when its text cannot be read. */
export type FindSchema = (accessClass: string, scope: GraphqlScope) => ScopeSchema | Promise<ScopeSchema>;

type BothScopes = Readonly<Record<GraphqlScope, ScopeSchema>>;

/** Makes the finder; `read` gives the text of an access class. */
export function createSchemas(read: NonNullable<CompiledApi['graphql']>): FindSchema {
  const made = new Map<string, BothScopes>();
  const making = new Map<string, Promise<BothScopes>>();

  async function create(accessClass: string): Promise<BothScopes> {
    try {
      const both = buildSchemas(accessClass, await read(accessClass));
      made.set(accessClass, both);
      return both;
    } finally {
      // A text that could not be read once may be readable the next time.
      making.delete(accessClass);
    }
  }

  return function findSchema(accessClass, scope) {
    const cached = made.get(accessClass);
    if (cached !== undefined) return cached[scope];
    const promise = making.get(accessClass) ?? create(accessClass);
    if (!making.has(accessClass)) making.set(accessClass, promise);
    return promise.then((both) => both[scope]);
  };
}

/** Makes both schemas of one text. They share all types but those at their roots. */
export function buildSchemas(accessClass: string, text: string): BothScopes {
  const types = new SchemaTypes(text, roots);
  let whole: Readonly<Record<GraphqlScope, GraphQLSchema>> | undefined;

  function scoped(scope: GraphqlScope): ScopeSchema {
    const names = graphqlRootTypes[scope];
    const findOwn = (name: string): GraphQLNamedType | undefined => {
      const isForeign = roots.has(name) && name !== names.query && name !== names.mutation;
      return isForeign ? undefined : types.find(name);
    };
    const described = (): GraphQLSchema => {
      whole ??= wholeSchemas(text);
      return whole[scope];
    };
    return {
      ...{ accessClass, scope, schema: withScalars(new LazySchema(findOwn, names)) },
      ...{ described, introspectionCheck: createIntrospectionCheck(described) },
    };
  }

  return { items: scoped('items'), system: scoped('system') };
}

const roots: ReadonlySet<string> = new Set(Object.values(graphqlRootTypes).flatMap((names) => Object.values(names)));

/** Schemas with all their types, which only introspection and printing need. */
function wholeSchemas(text: string): Readonly<Record<GraphqlScope, GraphQLSchema>> {
  // The compiler's tests validate what it writes; doing so again would take as long as the rest.
  const both = withScalars(
    buildASTSchema(parse(text, { noLocation: true }), { assumeValid: true, assumeValidSDL: true }),
  );
  const config = both.toConfig();
  const types = config.types.filter(({ name }) => !roots.has(name));
  const schemaOf = ({ query, mutation }: RootNames): GraphQLSchema =>
    new GraphQLSchema({
      ...config,
      types,
      query: objectType(both, query),
      mutation: objectType(both, mutation),
      assumeValid: true,
    });
  return { items: schemaOf(graphqlRootTypes.items), system: schemaOf(graphqlRootTypes.system) };
}

export function createSchemaPrinter(
  findSchema: FindSchema,
): (...parameters: Parameters<FindSchema>) => Promise<string> {
  const printed = derivedOnce(({ described }: ScopeSchema) => printSchema(described()));
  return async (accessClass, scope) => printed(await findSchema(accessClass, scope));
}

function objectType(schema: GraphQLSchema, name: string): GraphQLObjectType | undefined {
  const type = schema.getType(name);
  return type instanceof GraphQLObjectType ? type : undefined;
}

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Takes a value to the one handed on. Throws for a value of another form; the error never repeats it. */
type Coerce = (value: JsonValue) => JsonValue;

const integerText = /^-?\d{1,400}$/;
const numberText = /^-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?$/;

const coercions: Readonly<Record<string, Coerce>> = {
  GraphQLBigInt: (value) => (typeof value === 'number' || JSON.isRawJSON(value) ? integerOf(value) : textOf(value)),
  Decimal: (value) => (typeof value === 'number' || JSON.isRawJSON(value) ? digitsOf(value) : textOf(value)),
  GraphQLStringOrFloat: (value) =>
    typeof value === 'number' ? value : JSON.isRawJSON(value) ? digitsOf(value) : textOf(value),
  Date: textOf,
  Hash: textOf,
  JSON: (value) => value,
  Void: () => refuse('takes no value'),
};

/**
 * Gives the scalars of a schema made of text their meaning, and returns the schema.
 *
 * Values that the scalars of the compiled schemas take: the form of a value only, and without losing a digit. The field
 * checks that a date is one of the calendar, or that a number fits its column, as it does over REST.
 */
function withScalars(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, coerce] of Object.entries(coercions)) {
    const type = schema.getType(name);
    if (!isScalarType(type)) continue;
    type.parseValue = (value) => coerce(jsonOf(value));
    type.coerceInputValue = type.parseValue;
    type.parseLiteral = (node, variables) => coerce(jsonOfLiteral(node, variables));
  }
  return schema;
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : refuse('must be a string');
}

function integerOf(value: JsonValue): string {
  const text = digitsOf(value);
  return integerText.test(text) ? text : refuse('must be an integer or the text of one');
}

function digitsOf(value: JsonValue): string {
  const text = JSON.isRawJSON(value) ? value.rawJSON : String(value);
  return numberText.test(text) ? text : refuse('must be a number or the text of one');
}

function refuse(what: string): never {
  throw new GraphQLError(`A value of this type ${what}.`);
}

/** Takes a value that came from the JSON of a request body, or from the defaults of a document; there are no others. */
function jsonOf(value: unknown): JsonValue {
  if (isJson(value)) return value;
  return refuse('must be JSON');
}

/** The value that a literal writes. Numbers that a double cannot hold stay as they are written. */
function jsonOfLiteral(node: ValueNode | ConstValueNode, variables: Variables): JsonValue {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return numberOf(node.value);
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.LIST:
      return node.values.map((element) => jsonOfLiteral(element, variables));
    case Kind.OBJECT:
      return objectOf(node.fields, variables);
    case Kind.VARIABLE:
      return jsonOf(variables?.[node.name.value] ?? null);
  }
}

function numberOf(text: string): JsonValue {
  const value = Number(text);
  return String(value) === text && (Number.isSafeInteger(value) || !Number.isInteger(value))
    ? value
    : JSON.rawJSON(text);
}

function objectOf(
  fields: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[],
  variables: Variables,
): JsonValue {
  const entries = fields.map(({ name, value }) => {
    if (name.value === '__proto__') throw new GraphQLError('A value uses a name that is not allowed.');
    return [name.value, jsonOfLiteral(value, variables)] as const;
  });
  return Object.fromEntries(entries);
}
