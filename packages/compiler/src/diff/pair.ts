/** Two lists side by side. */

import type { RoleCollection } from '../role-view/role-view.ts';
import type { Side } from './side.ts';

/** One name with what stands under it before and after; at least one is there. */
export interface Pair<T> {
  /** The name after the change, or the one that is gone. */
  readonly name: string;
  readonly was: T | undefined;
  readonly is: T | undefined;
}

/** Pairs by name, those of the second list in its order first. `renamed` leads from names of the first to the second. */
export function pairs<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  renamed: ReadonlyMap<string, string> = new Map(),
): readonly Pair<T>[] {
  const old = new Map(before.map((item) => [renamed.get(item.name) ?? item.name, item]));
  const fresh = new Set(after.map(({ name }) => name));
  return [
    ...after.map((is) => ({ name: is.name, was: old.get(is.name), is })),
    ...[...old].flatMap(([name, was]) => (fresh.has(name) ? [] : [{ name: was.name, was, is: undefined }])),
  ];
}

/** `"a", "b"` */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** A collection that a role sees on both sides. */
export interface CollectionPair {
  readonly before: Side;
  readonly after: Side;
  readonly was: RoleCollection;
  readonly is: RoleCollection;
  /** Names of fields and relations before to those after. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Names of collections before to those after. */
  readonly collections: ReadonlyMap<string, string>;
}
