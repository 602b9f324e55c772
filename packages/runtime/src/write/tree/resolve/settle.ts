/** A tree with what is stored of it → one that can be written: each new item has one maker, and no link leads ahead. */
import type { WriteScope } from '../../access/scope.ts';
import type { DeferredLinks, Group } from '../parse/group.ts';
import { deferLinks } from './defer-links.ts';
import { type Found, missing } from './find-existing.ts';
import { resolveReferences } from './references.ts';

/** Settles a tree. Throws for an item that is neither there nor made. */
export function resolveTree(scope: WriteScope, root: Group, found: Found): DeferredLinks {
  const settled = resolveReferences(root, found, (group, node) => missing(scope, group, node));
  return deferLinks(scope, settled, found);
}
