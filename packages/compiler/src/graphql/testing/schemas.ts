import { graphqlRootTypes } from '@tablewright/runtime/language';
import { buildASTSchema, GraphQLObjectType, GraphQLSchema, parse, validateSchema } from 'graphql';

interface Schemas {
  readonly items: GraphQLSchema;
  readonly system: GraphQLSchema;
}

const known = new Map<string, Schemas>();

/** Makes the schemas of both scopes of a schema text, as a server does, and keeps them. */
export function schemasOf(text: string): Schemas {
  const schemas = known.get(text) ?? makeSchemas(text);
  known.set(text, schemas);
  return schemas;
}

function makeSchemas(text: string): Schemas {
  const all = buildASTSchema(parse(text));
  const rootOf = (name: string): GraphQLObjectType | null => {
    const type = all.getType(name);
    return type instanceof GraphQLObjectType ? type : null;
  };
  const scopeOf = ({ query, mutation }: { readonly query: string; readonly mutation: string }) =>
    new GraphQLSchema({ query: rootOf(query), mutation: rootOf(mutation) });
  return { items: scopeOf(graphqlRootTypes.items), system: scopeOf(graphqlRootTypes.system) };
}

/** Faults of a schema text, as GraphQL finds them. */
export function faultsOf(text: string): readonly string[] {
  const { items, system } = schemasOf(text);
  const all = buildASTSchema(parse(text));
  return [all, items, system].flatMap((schema) => validateSchema(schema)).map(({ message }) => message);
}
