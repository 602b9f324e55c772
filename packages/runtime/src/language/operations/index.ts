/** Declarations of the platform's operations. */
export * from './auth.ts';
export * from './comments.ts';
export * from './explain.ts';
export * from './failures.ts';
export * from './files.ts';
export { modelResource } from './model.ts';
export * from './model-changes.ts';
export * from './operation.ts';
export * from './resources.ts';
export * from './schema.ts';
export * from './server.ts';
export * from './users.ts';
export * from './utils.ts';
