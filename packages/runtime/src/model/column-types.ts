import type { PortableType } from '../language/index.ts';

/** Types that need more than their name, or that no column is made of. */
export const specialTypes = ['enum', 'array', 'composite', 'geometry', 'vector', 'token', 'unknown'] as const;

/** A type that columns can be made of by its name. */
export type PlainTypeName = Exclude<PortableType, (typeof specialTypes)[number]>;

/** A type that columns can be made of. */
export type ColumnTypeName = PlainTypeName | 'enum' | 'array';
