/** Declarations of the platform's operations. */
export * from './auth.ts';
export * from './failures.ts';
export * from './graphql-fields.ts';
export * from './operation.ts';
export * from './resources.ts';
export * from './schema.ts';
export * from './server.ts';
export * from './users.ts';
export * from './utils.ts';
