/** The types of pages of lists. Source: docs/graphql-connections.md. */
import { graphqlConnectionNames } from '@tablewright/runtime/language';
import { sdlType } from '../print/sdl.ts';
import type { GraphqlCollection, GraphqlCollections } from './graphql-collections.ts';
import { connectionOf } from './roots.ts';

/** Prints the types around the items of every list that can be paged through. */
export function connectionTypes({ collections, connections }: GraphqlCollections): readonly string[] {
  if (!connections) return [];
  return [pageInfoType, ...[...collections.values()].flatMap(typesOf)];
}

/** Name of the type that tells of the pages beside one. */
export const pageInfoName = 'PageInfo';

const pageInfoType = sdlType('type', pageInfoName, [
  { name: 'hasNextPage', type: 'Boolean!' },
  { name: 'hasPreviousPage', type: 'Boolean!' },
  { name: 'startCursor', type: 'String' },
  { name: 'endCursor', type: 'String' },
]);

function typesOf(shown: GraphqlCollection): readonly string[] {
  if (connectionOf(shown) === undefined) return [];
  const { connection, edge } = graphqlConnectionNames(shown.view.name);
  const { item } = shown.types;
  return [
    sdlType('type', connection, [
      { name: 'edges', type: `[${edge}!]!` },
      { name: 'nodes', type: `[${item}!]!` },
      { name: 'totalCount', type: 'Int!' },
      { name: 'pageInfo', type: `${pageInfoName}!` },
    ]),
    sdlType('type', edge, [
      { name: 'cursor', type: 'String!' },
      { name: 'node', type: `${item}!` },
    ]),
  ];
}
