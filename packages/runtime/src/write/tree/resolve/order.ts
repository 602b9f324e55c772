/** In which order the groups of a tree are written. */
import type { Before, Group } from '../parse/group.ts';

/** A group with the way to it. */
export interface Placed {
  readonly group: Group;
  /** Edges to what is written first, from the top to the group, each with the group that it starts from. */
  readonly way: readonly { readonly from: Group; readonly edge: Before }[];
}

/** Groups in the order in which their items are written. */
export function inOrder(group: Group, way: Placed['way'] = []): readonly Placed[] {
  const { before, children, targets } = group;
  const through = (edge: Before) => inOrder(edge.group, [...way, { from: group, edge }]);
  return [
    ...before.filter(({ behind }) => behind === undefined).flatMap(through),
    { group, way },
    ...[...children, ...targets].flatMap((edge) => inOrder(edge.group, way)),
    ...before.filter(({ behind }) => behind !== undefined).flatMap(through),
  ];
}

/** The same tree with groups replaced, from the leaves up; their edges may be replaced, too. */
export function replaceGroups(group: Group, replace: (group: Group, replaced: Group) => Group): Group {
  const below = <E extends { readonly group: Group }>(edges: readonly E[]): readonly E[] =>
    edges.map((edge) => ({ ...edge, group: replaceGroups(edge.group, replace) }));
  const { before, children, targets } = group;
  return replace(group, { ...group, before: below(before), children: below(children), targets: below(targets) });
}
