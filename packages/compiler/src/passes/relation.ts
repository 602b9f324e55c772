import type { JoinPair, Relation } from '@tablewright/introspect/schema';
import type { ColumnPair, RelationDescriptor } from '@tablewright/runtime/contract';
import { quoteIdentifier, quoteTable } from './quote.ts';
import type { SchemaIndex } from './schema-index.ts';

/** Resolves one relation to what the runtime reads: database names quoted, absent facts left out. */
export function resolveRelation(relation: Relation, index: SchemaIndex): RelationDescriptor {
  switch (relation.kind) {
    case 'm2o':
      return {
        kind: 'm2o',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        ...(relation.field !== null && { field: relation.field }),
        nullable: relation.nullable,
      };
    case 'o2m':
      return {
        kind: 'o2m',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        ...(relation.single && { single: true }),
        inverse: relation.inverse,
        ...sortOf(relation),
        onDeselect: relation.onDeselect,
        ...(relation.language !== null && { language: relation.language }),
      };
    case 'm2m': {
      return {
        kind: 'm2m',
        name: relation.name,
        target: relation.target,
        junction: relation.junction,
        junctionTable: quoteTable(index.dialect, index.table(index.collection(relation.junction).table)),
        near: quotePairs(relation.near),
        far: quotePairs(relation.far),
        ...sortOf(relation),
      };
    }
    case 'm2a':
      return {
        kind: 'm2a',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        collectionField: relation.collectionField,
        itemField: relation.itemField,
        allowed: relation.allowed,
        ...sortOf(relation),
      };
  }
}

function sortOf({ sort }: { readonly sort: string | null }): { readonly sort?: string } {
  return sort === null ? {} : { sort };
}

function quotePairs(pairs: readonly JoinPair[]): readonly ColumnPair[] {
  return pairs.map(({ from, to }) => ({ from: quoteIdentifier(from), to: quoteIdentifier(to) }));
}
