/** Changes of the model: statements for the database, and their other effects. */

import type { MysqlStep } from '../dialects/mysql/ddl/steps.ts';
import type { PlatformError } from '../errors.ts';
import type { CompiledApi, ModelDocument } from '../language/index.ts';
import type { ModelSql } from './model-sql.ts';

/** The model before a change. */
export interface KnownModel {
  readonly api: CompiledApi;
  /** As administrators see it. */
  readonly document: ModelDocument;
  /** The schema of the platform's own tables, quoted; empty where they lie beside the others. */
  readonly systemSchema: string;
  /** The schema that new tables lie in. */
  readonly schema: string;
  /** True if the change may lose rows and values, as the request allows. */
  readonly discard: boolean;
  /** How the database is told. */
  readonly sql: ModelSql;
}

/** Whom an error of the database is told about. */
export interface ModelPlace {
  readonly collection: string;
  readonly field: string | null;
}

/** A step of a change. Names are quoted and values are literals in it, so that a migration can repeat it. */
export type ModelStep =
  /** On MySQL and MariaDB it writes into the platform's own tables; changes of other tables are `MysqlStep`s. */
  | { readonly kind: 'run'; readonly sql: string; readonly place: ModelPlace }
  /** Selects one boolean; where it is false the change is refused. No migration repeats it. */
  | { readonly kind: 'check'; readonly sql: string; readonly place: ModelPlace; readonly refusal: PlatformError }
  | MysqlStep;

/** Entry of a change in the activity. */
export interface ToldChange {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: 'platform_collections' | 'platform_fields' | 'platform_relations';
  /** The name, of fields and relations after that of their collection: `articles,title`. */
  readonly item: string;
}

/** A change, planned. */
export interface ModelChange {
  /** For the name of the migration, in words: `create articles`. */
  readonly title: string;
  readonly steps: readonly ModelStep[];
  readonly told: readonly ToldChange[];
  /** Takes the answer from the next model; undefined if it is not there, as the configuration leaves it out. */
  readonly answer: (document: ModelDocument) => unknown;
}

/** Several changes as one: the answer is the list of theirs. */
export function allChanges(title: string, changes: readonly ModelChange[]): ModelChange {
  return {
    title,
    steps: changes.flatMap(({ steps }) => steps),
    told: changes.flatMap(({ told: entries }) => entries),
    answer(document) {
      const answers = changes.map(({ answer }) => answer(document));
      return answers.includes(undefined) ? undefined : answers;
    },
  };
}
