import type { VectorMetric } from '../../language/types/definition.ts';
import type { VectorDialect } from '../dialect.ts';

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', l2: '<->', inner: '<#>', l1: '<+>' };

/**
 * Vectors of pgvector. Other conditions count after the index, so a search goes on until enough rows are left. The setting
 * for that is read once, before the index, and ends with the transaction of the statement.
 */
export const postgresVectors: VectorDialect = {
  distance({ library = '', iterative }, metric, left, right) {
    const setting = `pg_catalog.set_config('hnsw.iterative_scan', 'strict_order', true)`;
    const sought = iterative ? `(SELECT ${right} FROM ${setting})` : right;
    return `(${left} OPERATOR(${library}${operators[metric]}) ${sought})`;
  },
  within: (distance, greatest) => `(${distance} <= (${greatest})::pg_catalog.float8)`,
};
