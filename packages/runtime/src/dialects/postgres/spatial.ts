import type { GeometryForm } from '../../language/types/definition.ts';
import type { SpatialDialect } from '../dialect.ts';

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
