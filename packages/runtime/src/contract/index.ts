export type * from './access.ts';
export type * from './api.ts';
export type * from './collection.ts';
export * from './condition.ts';
export * from './filter.ts';
export * from './fingerprint.ts';
export type * from './types.ts';
