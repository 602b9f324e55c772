import type { Condition } from '@tablewright/runtime/language';
import { columnContradiction } from './column-contradiction.ts';
import type { ColumnFacts, FactsIndex } from './column-facts.ts';
import { type Comparison, readConstraint } from './constraint.ts';

/** How many conjunctions are looked at for one answer; alternatives multiply. */
const maxCases = 500;

type Related = Extract<Condition, { kind: 'related' }>;

/**
 * Why no row of a collection can meet all conditions, as a sentence without its full stop; null when one may.
 *
 * Sound but not complete: it answers only what follows from the comparisons and from the possible values of the
 * columns. It keeps silent where that takes too long.
 */
export function findContradiction(
  index: FactsIndex,
  collection: string,
  conditions: readonly Condition[],
): string | null {
  return new ContradictionSearch(index).contradictionIn(collection, conditions);
}

class ContradictionSearch {
  readonly #index: FactsIndex;
  #cases = 0;

  constructor(index: FactsIndex) {
    this.#index = index;
  }

  contradictionIn(collection: string, parts: readonly Condition[]): string | null {
    this.#cases += 1;
    if (this.#cases > maxCases) return null;
    const flat = parts.flatMap(conjuncts);
    const found = this.#inComparisons(collection, flat) ?? this.#inRelations(collection, flat);
    return found ?? this.#inAlternatives(collection, flat);
  }

  #inComparisons(collection: string, parts: readonly Condition[]): string | null {
    const comparisons = [...parts, ...this.#impliedBy(collection, parts)]
      .filter((part) => part.kind === 'compare')
      .filter(isWhole);
    const groups = Map.groupBy(comparisons, (part) => JSON.stringify([part.field, part.function]));
    for (const group of groups.values()) {
      const found = this.#inColumn(collection, group);
      if (found !== null) return found;
    }
    return null;
  }

  #inColumn(collection: string, group: readonly Comparison[]): string | null {
    const [first] = group;
    const facts: ColumnFacts | undefined = first && this.#index.facts(collection, first.field, first.function);
    if (first === undefined || facts === undefined) return null;
    const constraints = group.map((comparison) => readConstraint(facts, comparison));
    const reason = columnContradiction(facts, constraints);
    const name = first.function === undefined ? first.field : `${first.function}(${first.field})`;
    return reason === null ? null : `"${name}" ${reason}`;
  }

  /** Where a many-to-one is looked through, its key is there. */
  #impliedBy(collection: string, parts: readonly Condition[]): readonly Condition[] {
    return parts.flatMap((part): readonly Condition[] => {
      const looks = part.kind === 'related' && part.quantifier !== 'none';
      const relation = looks ? this.#index.relation(collection, part.relation) : undefined;
      if (relation?.kind !== 'm2o' || relation.field === null) return [];
      return [
        { kind: 'compare', field: relation.field, operator: '_nnull', operand: { kind: 'literal', value: true } },
      ];
    });
  }

  /** Conditions on a to-one relation concern the same row; to-many conditions may each concern another row. */
  #inRelations(collection: string, parts: readonly Condition[]): string | null {
    const related = parts.filter((part) => part.kind === 'related');
    const single = related.filter(({ quantifier }) => quantifier === 'one');
    const groups = Map.groupBy(single, ({ relation, item }) => JSON.stringify([relation, item]));
    const rows = [
      ...groups.values(),
      ...related.filter(({ quantifier }) => quantifier === 'some').map((part) => [part]),
    ];
    for (const row of rows) {
      const found = this.#behind(collection, row);
      if (found !== null) return found;
    }
    return withoutAny(related);
  }

  #behind(collection: string, row: readonly Related[]): string | null {
    const [first] = row;
    const target = first && (first.item ?? this.#index.relation(collection, first.relation)?.target);
    if (first === undefined || target === undefined) return null;
    const found = this.contradictionIn(
      target,
      row.map(({ where }) => where),
    );
    return found === null ? null : `behind "${first.item ?? first.relation}", ${found}`;
  }

  #inAlternatives(collection: string, parts: readonly Condition[]): string | null {
    for (const part of parts) {
      if (part.kind !== 'or') continue;
      if (part.of.length === 0) return 'an empty _or matches nothing';
      const others = parts.filter((other) => other !== part);
      const found = part.of.map((alternative) => this.contradictionIn(collection, [...others, alternative]));
      const [reason] = found;
      if (found.every((contradiction) => contradiction !== null)) return reason ?? null;
    }
    return null;
  }
}

/** A value at a path within JSON has no known type. */
function isWhole({ path }: Comparison): boolean {
  return path === undefined;
}

/** No related row at all, and yet one. */
function withoutAny(related: readonly Related[]): string | null {
  const empty = related.filter(({ quantifier, where }) => quantifier === 'none' && conjuncts(where).length === 0);
  const found = empty.find(({ relation, item }) =>
    related.some((other) => other.quantifier !== 'none' && other.relation === relation && other.item === item),
  );
  return found === undefined ? null : `"${found.relation}" cannot be empty and have a matching item together`;
}

/** The parts of a conjunction that are none themselves. */
export function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of.flatMap(conjuncts) : [condition];
}
