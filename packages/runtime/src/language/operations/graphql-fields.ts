import type { GraphqlServices } from '../descriptors/graphql.ts';
import type { NamedOperation } from './operation.ts';
import { operations } from './resources.ts';

/** Root fields of the system scope that are no collection's; their names are what they do. */
export const graphqlServiceRoots: GraphqlServices = {
  query: [...operations.flatMap(({ graphql }) => graphql?.query ?? []), 'users_me', 'server_specs_graphql'],
  mutation: [...operations.flatMap(({ graphql }) => graphql?.mutation ?? []), 'update_users_me'],
};

/** Operations with a mutation that answers an item, by the name of the mutation. */
export const itemMutations: ReadonlyMap<string, NamedOperation['output']> = new Map(
  operations.flatMap(({ graphql, output }) =>
    graphql?.mutation !== undefined && output.item !== undefined ? [[graphql.mutation, output]] : [],
  ),
);
