import type { Collection, Schema } from '../../schema.ts';
import type { ManyToOneRelation } from '../lookup.ts';

/**
 * Chooses which of several junctions between two collections gives its relation the plain name, the target's.
 *
 * First the one that had it in the schema compiled before: a new table never renames what exists. Without such, the one
 * named after both ends (`articles_tags`, `tag_article`), else the first by name.
 */
export function plainHolder(
  owner: Collection,
  directions: readonly Direction[],
  previous: Schema | null,
): Direction | null {
  const held = heldBefore(owner, directions, previous);
  const canonical = directions.find((direction) => isNamedAfterEnds(direction));
  return held ?? canonical ?? directions[0] ?? null;
}

function heldBefore(
  owner: Collection,
  directions: readonly Direction[],
  previous: Schema | null,
): Direction | undefined {
  const before = previous?.collections.find(({ name }) => name === owner.name);
  return directions.find(({ junction, near, far }) =>
    before?.relations.some(
      (relation) =>
        relation.kind === 'm2m' &&
        relation.name === far.target &&
        relation.target === far.target &&
        relation.junction === junction.name &&
        relation.near.map(({ to }) => to).join() === near.on.map(({ from }) => from).join(),
    ),
  );
}

function isNamedAfterEnds({ junction, near, far }: Direction): boolean {
  const [name, left, right] = [junction.name, near.target, far.target].map(bare);
  return name === `${left}${right}` || name === `${right}${left}`;
}

/** A name without case, separators and the plural of its words: `Article-Tags` and `articles_tag` are the same. */
function bare(name: string): string {
  const terms = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return terms.map((word) => word.replace(/ies$/, 'y').replace(/s$/, '').replace(/e$/, '')).join('');
}

/** One end of a junction: how the target of `near` reads the target of `far`. */
export interface Direction {
  readonly junction: Collection;
  readonly near: ManyToOneRelation;
  readonly far: ManyToOneRelation;
  readonly name: string | null;
  readonly sort: string | null;
}
