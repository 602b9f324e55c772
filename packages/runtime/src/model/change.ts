/** Changes of the model: statements for the database, and their other effects. */
import { ServerError } from '../database/errors.ts';
import { PlatformError } from '../errors.ts';
import { failedValidation, invalidPayload } from '../json/problems.ts';
import type { ModelDocument } from '../language/index.ts';
import { entryOf } from './find.ts';
import type { ModelPlace, ModelStep } from './model-sql.ts';

export interface ActivityEntry {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: 'platform_collections' | 'platform_fields' | 'platform_relations';
  /** The name, of fields and relations after that of their collection: `articles,title`. */
  readonly item: string;
}

export interface ModelChange {
  /** For the name of the migration, in words: `create articles`. */
  readonly title: string;
  readonly steps: readonly ModelStep[];
  /** True if the model says all of it already, so that nothing is done. */
  readonly isIdle?: boolean;
  readonly activity: readonly ActivityEntry[];
  /** Takes the answer from the next model; undefined if it is not there, as the configuration leaves it out. */
  readonly respond: (document: ModelDocument) => unknown;
}

/** Tells of the change of one part, and answers with it as the next model has it; null once it is gone. */
export function outcome(
  action: ActivityEntry['action'],
  kind: keyof ModelDocument,
  location: ModelPlace,
): Pick<ModelChange, 'activity' | 'respond'> {
  const item = location.field === null ? location.collection : `${location.collection},${location.field}`;
  return {
    activity: [{ action, collection: `platform_${kind}`, item }],
    respond: (next) =>
      action === 'delete' ? null : entryOf<ModelDocument[keyof ModelDocument][number]>(next[kind], location),
  };
}

/** Several changes as one: the answer is the list of theirs. */
export function allChanges(title: string, changes: readonly ModelChange[]): ModelChange {
  return {
    title,
    steps: changes.flatMap(({ steps }) => steps),
    isIdle: changes.every(({ isIdle }) => isIdle),
    activity: changes.flatMap(({ activity: entries }) => entries),
    respond(document) {
      const answers = changes.map(({ respond: result }) => result(document));
      return answers.includes(undefined) ? undefined : answers;
    },
  };
}

const terms: Readonly<Record<string, string>> = {
  unique: 'has values that are not unique',
  foreign_key: 'refers to what is not there, or is referred to',
  required: 'has items without a value',
  check: 'has values that a condition of the database refuses',
};

/** Throws the meaning of a database error for the author of the change; all others as they are. */
export function explain(error: unknown, { collection, field }: ModelPlace): never {
  const cause = error instanceof PlatformError ? error.cause : undefined;
  if (!(cause instanceof ServerError)) throw error;
  const location = { collection, index: undefined };
  const { sqlstate } = cause;
  const name = field ?? collection;
  if (exists.has(sqlstate)) throw invalidPayload(`"${name}" has the name of something that the database has already.`);
  if (misfits.has(sqlstate)) throw invalidPayload(`"${name}" cannot be made so: types or keys do not fit.`);
  if (sqlstate === '42501') throw refused('The role of the server may not change this table.', cause);
  if (depended.has(sqlstate)) throw refused(dependedOn(name), cause);
  // Indexes keep no texts of some kilobytes (54000).
  if (sqlstate === '22001' || sqlstate === '54000')
    throw failedValidation(location, field, 'max_length', 'has values that are too long', cause);
  if (sqlstate === '22003') throw failedValidation(location, field, 'range', 'has values that are out of range', cause);
  if (sqlstate.startsWith('22')) throw failedValidation(location, field, 'check', 'has values that do not fit', cause);
  const type = error instanceof PlatformError ? error.extensions.type : undefined;
  if (typeof type === 'string') throw failedValidation(location, field, type, terms[type] ?? 'does not fit', cause);
  throw error;
}

/** Text of the refusal to change what another object of the database needs, which is not named. */
export const dependedOn = (name: string): string => `Something else in the database depends on "${name}".`;

const exists: ReadonlySet<string> = new Set(['42P07', '42701', '42710', '42P06']);
const misfits: ReadonlySet<string> = new Set([
  '42804',
  '42830',
  '42846',
  '42601',
  '42611',
  '42P16',
  '42809',
  '42883',
  '42704',
  '54011',
  '55P04',
]);
const depended: ReadonlySet<string> = new Set(['2BP01', '0A000']);

function refused(message: string, cause: unknown): PlatformError {
  return new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause });
}
