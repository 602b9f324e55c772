import type { GraphqlServices } from '../graphql.ts';
import { operations } from './resources.ts';

/** Root fields of the system scope that are no collection's; their names are what they do. */
export const graphqlServiceRoots: GraphqlServices = {
  query: [
    ...operations.flatMap(({ graphql }) => graphql?.query ?? []),
    'users_me',
    'server_specs_graphql',
    'collections',
    'collections_by_name',
    'fields',
    'fields_in_collection',
    'fields_by_name',
    'relations',
    'relations_in_collection',
    'relations_by_name',
  ],
  mutation: [
    ...operations.flatMap(({ graphql }) => graphql?.mutation ?? []),
    'update_users_me',
    'create_comment',
    'update_comment',
    'delete_comment',
    'import_file',
    'create_collections_item',
    'update_collections_item',
    'delete_collections_item',
    'create_fields_item',
    'update_fields_item',
    'delete_fields_item',
    'create_relations_item',
    'update_relations_item',
    'delete_relations_item',
  ],
};
