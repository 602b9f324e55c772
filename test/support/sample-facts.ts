/** The sample as `npm start` compiles it, with the platform's own tables, and without a server. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parsePermissions, readConfig, resolveSchema, type SchemaFacts } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import written from '../../fixtures/magazine/platform.config.ts';
import { factsOf } from '../introspect/facts.ts';
import { createMagazineDatabase } from './magazine.ts';
import { installSystem } from './system.ts';

/** Its configuration. */
export const sampleConfig = readConfig(written).config;

/** Reads the facts of its database. */
export async function sampleFacts(): Promise<SchemaFacts> {
  const database = await createMagazineDatabase();
  try {
    await installSystem(database.url);
    return await factsOf(database.url);
  } finally {
    await database.drop();
  }
}

/** Resolves it with its own permissions. */
export async function sampleSchema(): Promise<Schema> {
  const path = fileURLToPath(new URL('../../fixtures/magazine/permissions.yaml', import.meta.url));
  const { document } = parsePermissions(await readFile(path, 'utf8'), 'permissions.yaml');
  return resolveSchema(await sampleFacts(), sampleConfig, document).schema;
}
