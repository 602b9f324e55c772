import type { GeometryForm, VectorMetric } from '../../language/types/definition.ts';
import type { SpatialDialect, VectorDialect } from '../dialect.ts';

/** PostGIS. Geographies, which have no box and no proper `st_within`, are told by `boxed`. */
export const postgresSpatial: SpatialDialect = {
  intersects: (form, left, right) => `${call(form, 'st_intersects')}(${left}, ${right})`,
  within: (form, left, right) =>
    `${call(form, form.boxed === undefined ? 'st_within' : 'st_coveredby')}(${left}, ${right})`,
  boxes: ({ library = '' }, left, right) => `(${left} OPERATOR(${library}&&) ${right})`,
  near: (form, left, right, distance) =>
    `${call(form, 'st_dwithin')}(${left}, ${right}, (${distance})::pg_catalog.float8)`,
  distance: (form, left, right) => `${call(form, 'st_distance')}(${left}, ${right})`,
};

function call({ library = '' }: GeometryForm, name: string): string {
  return library + name;
}

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
