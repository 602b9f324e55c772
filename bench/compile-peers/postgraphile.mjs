// Builds the GraphQL schema of PostGraphile for the database that DATABASE_URL names, once, with its default preset. Run in
// a folder where postgraphile is installed. Prints how many types it has and the milliseconds that building took.
import { createRequire } from 'node:module';

const load = createRequire(`${process.cwd()}/`);
const { makeSchema } = load('postgraphile');
const { PostGraphileAmberPreset } = load('postgraphile/presets/amber');
const { makePgService } = load('postgraphile/adaptors/pg');

const service = makePgService({ connectionString: process.env.DATABASE_URL, schemas: ['public'] });
const start = performance.now();
const { schema } = await makeSchema({ extends: [PostGraphileAmberPreset], pgServices: [service] });
const ms = performance.now() - start;
process.stdout.write(JSON.stringify({ types: Object.keys(schema.getTypeMap()).length, ms }));
process.exit(0);
