import type { DefinitionNode, DocumentNode, FragmentDefinitionNode, OperationDefinitionNode } from 'graphql';
import { loadGraphql } from '../print/libraries.ts';

/** By definition: the fragments that it names, each once, in the order in which it does. */
type Spreads = ReadonlyMap<DefinitionNode, readonly FragmentDefinitionNode[]>;

/**
 * An operation with the fragments that it uses.
 *
 * The order means nothing to a server, but clients name a document by the hash of its text. So it is the order of the
 * typed document nodes that @graphql-codegen makes: fragments that others use, then the others.
 */
export function withFragments(
  operation: OperationDefinitionNode,
  definitions: readonly DefinitionNode[],
): DocumentNode {
  const { Kind } = loadGraphql();
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const spreads: Spreads = new Map(
    [operation, ...fragments].map((definition) => [definition, spreadIn(definition, fragments)]),
  );
  const named = descend(operation, spreads);
  const below = named.flatMap((fragment) => climb(fragment, spreads).filter((descendant) => descendant !== fragment));
  return { kind: Kind.DOCUMENT, definitions: [operation, ...new Set([...below, ...named])] };
}

/** Fragments that a definition uses, each after those that it uses itself. */
function descend(
  definition: DefinitionNode,
  spreads: Spreads,
  found = new Set<FragmentDefinitionNode>(),
): readonly FragmentDefinitionNode[] {
  for (const fragment of spreads.get(definition) ?? []) {
    if (found.has(fragment)) continue;
    found.add(fragment);
    descend(fragment, spreads, found);
  }
  return [...found];
}

/** A fragment and what it uses, everything after what is below it. One that uses itself is refused later. */
function climb(
  fragment: FragmentDefinitionNode,
  spreads: Spreads,
  visited = new Set<FragmentDefinitionNode>(),
): readonly FragmentDefinitionNode[] {
  visited.add(fragment);
  const others = (spreads.get(fragment) ?? []).flatMap((spread) =>
    visited.has(spread) ? [] : climb(spread, spreads, visited),
  );
  return [...others, fragment];
}

function spreadIn(
  definition: DefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
): readonly FragmentDefinitionNode[] {
  const names = new Set<string>();
  loadGraphql().visit(definition, {
    FragmentSpread({ name }) {
      names.add(name.value);
    },
  });
  return [...names].flatMap((name) => fragments.find((fragment) => fragment.name.value === name) ?? []);
}
