/** Changes of the model: statements for the database, and their other effects. */

import type { ModelDocument } from '../language/index.ts';
import type { ModelStep } from './model-sql.ts';

/** Entry of a change in the activity. */
export interface ActivityEntry {
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
  readonly activity: readonly ActivityEntry[];
  /** Takes the answer from the next model; undefined if it is not there, as the configuration leaves it out. */
  readonly respond: (document: ModelDocument) => unknown;
}

/** Several changes as one: the answer is the list of theirs. */
export function allChanges(title: string, changes: readonly ModelChange[]): ModelChange {
  return {
    title,
    steps: changes.flatMap(({ steps }) => steps),
    activity: changes.flatMap(({ activity: entries }) => entries),
    respond(document) {
      const answers = changes.map(({ respond: result }) => result(document));
      return answers.includes(undefined) ? undefined : answers;
    },
  };
}
