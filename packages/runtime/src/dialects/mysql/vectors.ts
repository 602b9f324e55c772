import type { VectorDialect } from '../dialect.ts';

/** Vectors of MariaDB, which has two metrics. */
export const mysqlVectors: VectorDialect = {
  distance: (_, metric, left, right) =>
    `VEC_DISTANCE_${metric === 'cosine' ? 'COSINE' : 'EUCLIDEAN'}(${left}, ${right})`,
  within: (distance, greatest) => `(${distance} <= CAST(${greatest} AS DOUBLE))`,
};
