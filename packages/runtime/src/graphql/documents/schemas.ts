/** The schemas of access classes, each made of its text when it is first asked for: starting a server costs nothing. */
import { buildASTSchema, type GraphQLNamedType, GraphQLObjectType, GraphQLSchema, parse, printSchema } from 'graphql';
import { type CompiledApi, type GraphqlScope, graphqlRootTypes } from '../../language/index.ts';
import { createIntrospectionCheck, type IntrospectionCheck } from './introspection.ts';
import { createTypes, LazySchema, type RootNames } from './lazy-schema.ts';
import { withScalars } from './scalars.ts';

/** Schema by which a document is judged. */
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
  const find = createTypes(text, roots);
  let whole: Readonly<Record<GraphqlScope, GraphQLSchema>> | undefined;

  function scoped(scope: GraphqlScope): ScopeSchema {
    const names = graphqlRootTypes[scope];
    const findOwn = (name: string): GraphQLNamedType | undefined => {
      const isForeign = roots.has(name) && name !== names.query && name !== names.mutation;
      return isForeign ? undefined : find(name);
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

/** Makes the printer of schemas: as text, each printed once. */
export function createSchemaPrinter(
  findSchema: FindSchema,
): (...parameters: Parameters<FindSchema>) => Promise<string> {
  const printed = new WeakMap<ScopeSchema, string>();
  return async function print(accessClass, scope) {
    const found = await findSchema(accessClass, scope);
    const text = printed.get(found) ?? printSchema(found.described());
    printed.set(found, text);
    return text;
  };
}

function objectType(schema: GraphQLSchema, name: string): GraphQLObjectType | undefined {
  const type = schema.getType(name);
  return type instanceof GraphQLObjectType ? type : undefined;
}
