import type { SpatialDialect, VectorDialect } from '../dialect.ts';

/** Spatial functions of MySQL and MariaDB: an index serves comparisons of boxes, so the exact ones have one before them. */
export const mysqlSpatial: SpatialDialect = {
  intersects: (_, left, right) => `(MBRIntersects(${left}, ${right}) AND ST_Intersects(${left}, ${right}))`,
  within: (_, left, right) => `(MBRIntersects(${left}, ${right}) AND ST_Within(${left}, ${right}))`,
  boxes: (_, left, right) => `MBRIntersects(${left}, ${right})`,
  near: (_, left, right, distance) => `(ST_Distance(${left}, ${right}) <= CAST(${distance} AS DOUBLE))`,
  distance: (_, left, right) => `ST_Distance(${left}, ${right})`,
};

/** Vectors of MariaDB, which has two metrics. */
export const mysqlVectors: VectorDialect = {
  distance: (_, metric, left, right) =>
    `VEC_DISTANCE_${metric === 'cosine' ? 'COSINE' : 'EUCLIDEAN'}(${left}, ${right})`,
  within: (distance, greatest) => `(${distance} <= CAST(${greatest} AS DOUBLE))`,
};
