/** A tree with what is stored of it → one that can be written: each new item has one maker, and no link leads ahead. */
import type { WriteScope } from '../scope.ts';
import type { Group } from './group.ts';
import { settleMentions } from './mentions.ts';
import { type Postponed, postponeLinks } from './postpone.ts';
import { type Found, missing } from './probe.ts';

/** Settles a tree. Throws for an item that is neither there nor made. */
export function settleTree(scope: WriteScope, root: Group, found: Found): Postponed {
  const settled = settleMentions(root, found, (group, node) => missing(scope, group, node));
  return postponeLinks(scope, settled, found);
}
