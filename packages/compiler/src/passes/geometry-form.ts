/** Geometry of a column → how its values are read, written and compared: outside they are GeoJSON. */
import type { Column, ColumnType, Table } from '@tablewright/introspect/schema';
import {
  type Dialect,
  dialectFacts,
  type GeometryForm,
  quoteName,
  quoteQualified,
  splitQualified,
  type VectorForm,
} from '@tablewright/runtime/language';
import type { NativeForm } from './composite-form.ts';

/** Reference of longitude and latitude, as GeoJSON has them. */
const degrees = 4326;
/** Spatial reference of maps on the web. */
const mercator = 3857;
const digits = 9;

/** A geometry of PostGIS, whose functions lie in the schema of its types. */
export function postgisForm({ base, geometry }: ColumnType, keeps: boolean): NativeForm {
  const { schema, name } = splitQualified(base);
  const library = `${quoteName(schema)}.`;
  const { kind = null, srid = null } = geometry ?? {};
  const read = `${library}st_geomfromgeojson({})`;
  const common = { ...(kind !== null && { kind }), library } as const;
  const holdsAny = kind === null || kind === 'GeometryCollection';
  const write = (value: string, options = ''): NativeForm['wire'] => ({
    kind: 'json',
    cast: `${library}st_asgeojson(${holdsAny ? flattened(library, value) : value}, ${digits}${options})::pg_catalog.json`,
  });
  if (name === 'geography') {
    const boxed = `({})::${library}geometry`;
    const form: GeometryForm = { form: 'degrees', ...common, boxed };
    const wire = write(holdsAny ? boxed : '{}');
    return { native: 'text', stored: `${read}::${library}geography`, wire, geometry: form };
  }
  if (srid === null) {
    // Rows of such a column may have references of their own, which must not keep them from being compared.
    const plain = (value: string): string => `${library}st_setsrid(${value}, 0)`;
    const form: GeometryForm = { form: 'plane', ...common };
    return { native: 'text', comparison: plain('{}'), stored: plain(read), wire: write('{}', ', 0'), geometry: form };
  }
  if (keeps) {
    const stored = `${library}st_setsrid(${read}, ${srid})`;
    return { native: 'text', stored, wire: write('{}', ', 0'), geometry: { form: 'plane', ...common } };
  }
  const moved = (value: string, to: number): string =>
    srid === degrees ? value : `${library}st_transform(${value}, ${to})`;
  const form: GeometryForm = { form: 'degrees', ...common, measured: `(${moved('{}', degrees)})::${library}geography` };
  return { native: 'text', stored: moved(read, srid), wire: write(moved('{}', degrees)), geometry: form };
}

/** PostGIS has no GeoJSON of collections in others: their members stand side by side. */
function flattened(library: string, value: string): string {
  const isCollection = (geometry: string): string => `${library}geometrytype(${geometry}) = 'GEOMETRYCOLLECTION'`;
  const members = `pg_catalog.generate_series(1, ${library}st_numgeometries(${value})) AS gm(n)`;
  const isNested = `EXISTS (SELECT FROM ${members} WHERE ${isCollection(`${library}st_geometryn(${value}, gm.n)`)})`;
  const dumped = `${library}st_collect(ARRAY(SELECT gd.geom FROM ${library}st_dump(${value}) AS gd))`;
  return `CASE WHEN ${isCollection(value)} AND ${isNested} THEN ${library}st_forcecollection(${dumped}) ELSE ${value} END`;
}

/** SQL that reads an argument of a function: GeoJSON, in degrees where its type names no other reference. */
export function geojsonArgument(
  dialect: Dialect,
  { geometry }: ColumnType,
  { stored, geometry: form }: NativeForm,
): string | undefined {
  const { binaryRows, hasSpatialReferences } = dialectFacts[dialect];
  if (typeof geometry?.srid === 'number') return stored;
  if (binaryRows) return `${form?.library ?? ''}st_geomfromgeojson({})`;
  return hasSpatialReferences ? `ST_GeomFromGeoJSON({}, 1, ${degrees})` : stored;
}

/** A result of a function, in degrees where its value has a reference. The value is computed once. */
export function geojsonResult({ geometry }: ColumnType, { wire, geometry: form }: NativeForm): NativeForm['wire'] {
  if (typeof geometry?.srid === 'number') return wire;
  const library = form?.library ?? '';
  const isPlain = `${library}st_srid(gv.v) IN (0, ${degrees})`;
  const moved = `CASE WHEN ${isPlain} THEN gv.v ELSE ${library}st_transform(gv.v, ${degrees}) END`;
  const printed = `${library}st_asgeojson(${flattened(library, 'gp.p')}, ${digits}, 0)::pg_catalog.json`;
  const from = `(SELECT ${moved} AS p FROM (SELECT {} AS v) gv)`;
  return { kind: 'json', cast: `(SELECT ${printed} FROM ${from} gp)` };
}

/** A geometry of a server without such a library; `referenced` tells that it knows spatial references. */
export function geometryTextForm({ type: { geometry } }: Column, referenced: boolean, keeps: boolean): NativeForm {
  const { kind = null, srid = null, planar = false } = geometry ?? {};
  const common = kind === null ? {} : { kind };
  const bounded = { bounded: true as const };
  const write = (value: string): NativeForm['wire'] => ({
    kind: 'json',
    cast: `CAST(ST_AsGeoJSON(${value}, ${digits}) AS CHAR)`,
  });
  if (!referenced) {
    return {
      native: 'text',
      stored: 'ST_GeomFromGeoJSON({})',
      wire: write('{}'),
      geometry: { form: 'plane', ...common, ...bounded },
    };
  }
  const read = (reference: number): string => `ST_GeomFromGeoJSON({}, 1, ${reference})`;
  if (srid === null) {
    const form: GeometryForm = { form: 'plane', ...common, ...(planar && bounded) };
    const comparison = planar ? {} : { comparison: 'ST_SRID({}, 0)' };
    return { native: 'text', ...comparison, stored: read(0), wire: write('{}'), geometry: form };
  }
  if (keeps) {
    const stored = `ST_SRID(${read(0)}, ${srid})`;
    const form: GeometryForm = { form: 'plane', ...common, ...(planar && bounded) };
    return { native: 'text', stored, wire: write('ST_SRID({}, 0)'), geometry: form };
  }
  const moved = (value: string, to: number): string => (srid === degrees ? value : `ST_Transform(${value}, ${to})`);
  // Metres are those of the earth. A box stays one in Mercator's reference; others bend it.
  const measured = srid !== degrees && { measured: moved('{}', degrees) };
  const isStraight = srid === degrees || srid === mercator;
  const form: GeometryForm = { form: 'degrees', ...common, ...measured, bounded: isStraight || 'bent' };
  return { native: 'text', stored: moved(read(degrees), srid), wire: write(moved('{}', degrees)), geometry: form };
}

const metrics: ReadonlyMap<string, VectorForm['metric']> = new Map([
  ['cosine', 'cosine'],
  ['l2', 'l2'],
  ['ip', 'inner'],
  ['l1', 'l1'],
]);

/** A vector of pgvector, whose operators lie in the schema of its types. */
export function pgvectorForm({ base, vector }: ColumnType): NativeForm {
  const { schema, name } = splitQualified(base);
  const { half = false, iterative = false } = vector ?? {};
  return {
    native: 'text',
    stored: `({})::${quoteQualified(schema, name)}`,
    wire: { kind: 'json', cast: '::pg_catalog.text::pg_catalog.json' },
    vector: {
      ...dimensionsOf(vector),
      ...(half && { half: true as const }),
      metric: 'cosine',
      library: `${quoteName(schema)}.`,
      ...(iterative && { iterative: true as const }),
    },
  };
}

/** A vector of a server without an extension. */
export function vectorTextForm({ vector }: ColumnType): NativeForm {
  return {
    native: 'text',
    stored: 'VEC_FromText({})',
    wire: { kind: 'json', cast: 'VEC_ToText({})' },
    vector: { ...dimensionsOf(vector), metric: 'cosine', metrics: ['cosine', 'l2'] },
  };
}

function dimensionsOf(vector: ColumnType['vector']): Pick<VectorForm, 'dimensions'> {
  return vector?.dimensions == null ? {} : { dimensions: vector.dimensions };
}

/** The form with the metric of the column's indexes: the usual one where they have several. */
export function withMetric(form: VectorForm, { indexes }: Table, column: string): VectorForm {
  const matching = indexes.filter(({ columns }) => columns.length === 1 && columns[0] === column);
  const found = matching.flatMap(({ distance }) => metrics.get(distance ?? '') ?? []);
  const [metric = form.metric] = found.includes(form.metric) ? [] : found;
  return { ...form, metric };
}
