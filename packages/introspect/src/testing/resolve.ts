import type { PlatformConfig } from '../config/config.ts';
import { parsePermissions } from '../config/permissions/parse-permissions.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { SchemaFacts } from '../facts.ts';
import { resolveSchema } from '../introspect.ts';
import type { Collection, Relation, Schema } from '../schema.ts';
import type { TableSketch } from './facts.ts';
import { facts } from './facts.ts';

/** Facts that a test may add to its tables. */
export interface Circumstances {
  readonly config?: PlatformConfig;
  /** Text of permissions.yaml. */
  readonly permissions?: string;
  readonly previous?: Schema;
}

/** Resolves sketched tables; the diagnostics of the permissions file come first. */
export function resolve(
  tables: Readonly<Record<string, TableSketch>>,
  circumstances: Circumstances = {},
): ReturnType<typeof resolveFacts> {
  return resolveFacts(facts(tables), circumstances);
}

/** Resolves facts that sketches cannot say. */
export function resolveFacts(
  of: SchemaFacts,
  { config = {}, permissions = '', previous }: Circumstances = {},
): { readonly schema: Schema; readonly diagnostics: readonly Diagnostic[] } {
  const { document, diagnostics: problems } = parsePermissions(permissions, 'permissions.yaml');
  const options = previous === undefined ? {} : { previous };
  const { schema, diagnostics } = resolveSchema(of, config, document, options);
  return { schema, diagnostics: [...problems, ...diagnostics] };
}

/** The collection of a name. Throws where a test expects one that is not there. */
export function collection(schema: Schema, name: string): Collection {
  const found = schema.collections.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`There is no collection ${name}.`);
  return found;
}

/** The relation of a name. Throws where a test expects one that is not there. */
export function relation(schema: Schema, owner: string, name: string): Relation {
  const found = collection(schema, owner).relations.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`${owner} has no relation ${name}.`);
  return found;
}

/** Relations of a collection in short: `o2m comments`, `m2o author_id`. */
export function relationsOf(schema: Schema, owner: string): readonly string[] {
  return collection(schema, owner).relations.map(({ kind, name }) => `${kind} ${name}`);
}

/** Diagnostics in short, without notes: `error unknown-name platform.config.ts: collections.articel`. */
export function complaints(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, place }) => `${severity} ${code} ${place}`);
}

/** Notes of one code: their messages. */
export function notes(diagnostics: readonly Diagnostic[], code: string): readonly string[] {
  return diagnostics.filter((diagnostic) => diagnostic.code === code).map(({ message }) => message);
}
