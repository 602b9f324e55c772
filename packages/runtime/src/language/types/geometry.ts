/** Shape on the earth or on a plane, as GeoJSON (RFC 7946). Positions are pairs: longitude and latitude, or x and y. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, isObject, numberOf, refuse } from './decoding.ts';
import type { BrokenLimit, Decoded, GeometryForm, TypeDefinition, ValueFacts } from './definition.ts';

/** Lists around the positions of each type of GeoJSON. */
const levels: ReadonlyMap<string, number> = new Map([
  ['Point', 0],
  ['MultiPoint', 1],
  ['LineString', 1],
  ['MultiLineString', 2],
  ['Polygon', 2],
  ['MultiPolygon', 3],
]);

/** Positions of one value, and levels of collections within each other. */
let maxPositions = 10_000;
const maxCollections = 4;

/** Sets how many positions a value may have in this process. */
export function limitPositions(positions: number): void {
  maxPositions = positions;
}

const refused = refuse('must be a GeoJSON geometry');

/** A problem ends the walk, so the first one is told. */
class Malformed extends Error {}

function decode(value: JsonValue, { geometry }: ValueFacts): Decoded {
  return decodeShape(value, geometry?.form === 'plane', maxPositions);
}

function decodeShape(value: JsonValue, plane: boolean, positions: number): Decoded {
  const written = typeof value === 'string' ? parse(value) : value;
  if (!isObject(written)) return refused;
  if (written.type === 'Feature') return refuse('must be a geometry. Send the geometry of the feature');
  try {
    const budget = { positions };
    return accept(JSON.stringify(readGeometry(written, plane, maxCollections, budget)));
  } catch (error) {
    if (error instanceof Malformed) return refuse(error.message);
    throw error;
  }
}

interface Budget {
  positions: number;
}

function readGeometry(value: JsonValue, plane: boolean, collections: number, budget: Budget): JsonValue {
  if (!isObject(value)) throw new Malformed('must be a GeoJSON geometry');
  const { type, coordinates = null, geometries = null } = value;
  if (type === 'GeometryCollection') {
    if (collections === 0) throw new Malformed(`must not have more than ${maxCollections} levels of collections`);
    if (!Array.isArray(geometries)) throw new Malformed('needs a list of geometries');
    return { type, geometries: geometries.map((part) => readGeometry(part, plane, collections - 1, budget)) };
  }
  const level = typeof type === 'string' ? levels.get(type) : undefined;
  if (typeof type !== 'string' || level === undefined) throw new Malformed('must be a GeoJSON geometry');
  return { type, coordinates: readPositions(coordinates, level, shapeOf(type), plane, budget) };
}

function shapeOf(type: string): 'points' | 'line' | 'ring' {
  if (type.endsWith('Polygon')) return 'ring';
  return type.endsWith('LineString') ? 'line' : 'points';
}

function readPositions(
  value: JsonValue,
  level: number,
  shape: ReturnType<typeof shapeOf>,
  plane: boolean,
  budget: Budget,
): JsonValue {
  if (level === 0) return readPosition(value, plane, budget);
  if (!Array.isArray(value) || value.length === 0) throw new Malformed('needs coordinates');
  const read = value.map((part: JsonValue) => readPositions(part, level - 1, shape, plane, budget));
  if (level === 1 && shape === 'line' && read.length < 2) throw new Malformed('has a line of less than two positions');
  if (level === 1 && shape === 'ring' && !isRing(read)) {
    throw new Malformed('has a ring that is not closed, or of less than four positions');
  }
  return read;
}

function isRing(positions: readonly JsonValue[]): boolean {
  return positions.length >= 4 && JSON.stringify(positions[0]) === JSON.stringify(positions.at(-1));
}

function readPosition(value: JsonValue, plane: boolean, budget: Budget): JsonValue {
  budget.positions -= 1;
  if (budget.positions < 0) throw new Malformed(`must not have more than ${maxPositions} positions`);
  if (!Array.isArray(value) || value.length !== 2) throw new Malformed('has a position that is not two numbers');
  const [x, y] = value.map(numberOf);
  if (x === undefined || y === undefined) throw new Malformed('has a position that is not two numbers');
  if (!plane && (Math.abs(x) > 180 || Math.abs(y) > 90)) {
    throw new Malformed('has a position that is not a longitude and a latitude');
  }
  return [x, y];
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function decodePosition(value: JsonValue, plane: boolean): Decoded {
  return decodeShape({ type: 'Point', coordinates: value }, plane, 1);
}

/** Reads four numbers as the text of a box: west, south, east, north. */
export function decodeBox(value: JsonValue, plane: boolean): Decoded {
  const corners = Array.isArray(value) ? value.map(numberOf) : [];
  const [west, south, east, north] = corners;
  if (corners.length !== 4 || west === undefined || south === undefined || east === undefined || north === undefined)
    return refuse('must be a geometry, or the four numbers of a box');
  return decodeRing([west, south, east, north], 1, plane);
}

type Corners = readonly [west: number, south: number, east: number, north: number];

/** A box whose sides have so many parts. */
function decodeRing([west, south, east, north]: Corners, parts: number, plane: boolean): Decoded {
  const along = (from: readonly [number, number], to: readonly [number, number]) =>
    Array.from({ length: parts }, (_, part) =>
      from.map((value, index) => value + (((to[index] ?? 0) - value) * part) / parts),
    );
  const [first, second, third, last] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ] as const;
  const ring = [
    ...along(first, second),
    ...along(second, third),
    ...along(third, last),
    ...along(last, first),
    [...first],
  ];
  return decodeShape({ type: 'Polygon', coordinates: [ring] }, plane, ring.length);
}

/**
 * The text of a box that has everything no farther than a distance from a shape, which is a text. Undefined where a box
 * would reach over a pole or the antimeridian, or around half of the earth. A reference that bends its sides gets a small one
 * only: a little larger, with many positions.
 */
export function boxAround(shape: string, distance: number, plane: boolean, bent = false): string | undefined {
  const [xs, ys] = [coordinatesOf(JSON.parse(shape), 0), coordinatesOf(JSON.parse(shape), 1)];
  const up = plane ? distance : distance / metresPerDegree;
  const [south, north] = [Math.min(...ys) - up, Math.max(...ys) + up];
  const farthest = Math.max(Math.abs(south), Math.abs(north));
  if (!plane && farthest >= 89) return undefined;
  const aside = plane ? distance : up / Math.cos((farthest * Math.PI) / 180);
  const [west, east] = [Math.min(...xs) - aside, Math.max(...xs) + aside];
  if (!plane && (west < -180 || east > 180 || east - west > 170)) return undefined;
  const size = Math.max(east - west, north - south);
  const edge = bent ? size / 20 + 1e-6 : 0;
  if (bent && (size > 20 || farthest > 85 || west - edge < -180 || east + edge > 180)) return undefined;
  const box = decodeRing([west - edge, south - edge, east + edge, north + edge], bent ? 16 : 1, plane);
  return box.ok && box.value !== null ? box.value : undefined;
}

/** Fewer than a degree of latitude or of the equator has. */
const metresPerDegree = 110_000;

/** First or second numbers of all positions. */
function coordinatesOf(value: JsonValue, index: 0 | 1): readonly number[] {
  if (!Array.isArray(value))
    return isObject(value) ? Object.values(value).flatMap((part) => coordinatesOf(part, index)) : [];
  const number = value[index];
  return typeof number === 'number' ? [number] : value.flatMap((part: JsonValue) => coordinatesOf(part, index));
}

function limit({ geometry }: ValueFacts, text: string): BrokenLimit | undefined {
  const { kind } = geometry ?? {};
  if (kind === undefined || text.startsWith(`{"type":"${kind}"`)) return undefined;
  return { type: 'geometry', message: `must be a ${kind}` };
}

export const geometry: TypeDefinition = {
  decode,
  limit,
  comparison: 'geometry',
  typescript: { value: 'Geometry' },
  schema: ({ geometry: form }: { readonly geometry?: GeometryForm }) => ({
    type: 'object',
    description: 'A GeoJSON geometry (RFC 7946).',
    required: ['type'],
    properties: {
      type: form?.kind === undefined ? { enum: [...levels.keys(), 'GeometryCollection'] } : { enum: [form.kind] },
      coordinates: { type: 'array', items: {} },
      geometries: { type: 'array', items: {} },
    },
  }),
  graphql: { value: 'GeoJSON', filter: 'geometry' },
  isUnordered: true,
  forms: {
    binary: { native: 'text', wire: { kind: 'json' } },
    text: { native: 'text', wire: { kind: 'json' } },
  },
};
