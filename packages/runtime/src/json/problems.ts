/** Errors in a payload, collected by the stages of the API specification, section 1.5. */
import { forbidden, PlatformError, together } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';

/** Reason why a field does not take a value: the type of FAILED_VALIDATION, and a sentence without its subject. */
export interface FieldProblem {
  readonly type: string;
  readonly message: string;
}

export interface Place {
  readonly collection: string;
  /** For an item in an array at the top of the body: its position there, from 0. */
  readonly index: number | undefined;
  /** For a nested item: the path to it through the payload, as in `comments[2]`. */
  readonly path?: string;
}

/** Locations of the items of a body: `places` tells where each stands in its array, null when the body is the item. */
export function placesIn(collection: string, places: readonly number[] | null): (item: number) => Place {
  return (item) => ({ collection, index: places?.[item] });
}

/** More errors than this are not listed; the first ones say enough. */
export const maxErrors = 100;

/** Collects problems, and throws those of the first stage that has any. */
export type Problems = ReturnType<typeof createProblems>;

/** Starts collecting. */
export function createProblems() {
  const refused: PlatformError[] = [];
  const invalid: PlatformError[] = [];
  let refusal: PlatformError | undefined;
  return {
    any: (): boolean => refusal !== undefined || refused.length > 0 || invalid.length > 0,
    /** A name that the caller may not write, or that does not exist; `missing` is told to explanations and administrators only. */
    forbid(missing?: string): void {
      refusal ??= forbidden(missing);
    },
    /** A value that is none of its field's, or stands where none can. */
    refuse(location: Place, field: string, message: string): void {
      if (refused.length < maxErrors) refused.push(invalidPayload(`${nameOf(location, field)} ${message}.`));
    },
    /** A value that its field does not take, or one that is missing; `field` is null where its name must not be told. */
    invalidate(location: Place, field: string | null, type: string, message: string): void {
      if (invalid.length < maxErrors) invalid.push(failedValidation(location, field, type, message));
    },
    /** Throws FORBIDDEN, else INVALID_PAYLOAD, else FAILED_VALIDATION, each with all errors; nothing when all is well. */
    raise(): void {
      if (refusal !== undefined) throw refusal;
      const error = together(refused) ?? together(invalid);
      if (error !== undefined) throw error;
    },
  };
}

const stages: readonly string[] = ['FORBIDDEN', 'INVALID_QUERY', 'INVALID_PAYLOAD', 'FAILED_VALIDATION'];

/** Returns the error of the earlier stage of two about one request; the first one if both are of one stage. */
export function earlierOf(first: unknown, second: unknown): unknown {
  return stageOf(second) < stageOf(first) ? second : first;
}

function stageOf(error: unknown): number {
  const stage = error instanceof PlatformError ? stages.indexOf(error.code) : -1;
  // Values of the query and of the payload are judged at once.
  return stage === 2 ? 1 : stage;
}

/** A body that cannot be used; the message repeats nothing but names of the request. */
export function invalidPayload(message: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', message);
}

/** The message of a missing value. `field` is null where its name must not be told: no payload of the role has it. */
export function missingValue(field: string | null): string {
  return field === null
    ? 'needs a value in a field that the role may not write; rules or the database must fill it'
    : 'is required';
}

/** One violated condition of one item. */
export function failedValidation(
  location: Place,
  field: string | null,
  type: string,
  message: string,
  cause?: unknown,
): PlatformError {
  const { collection, index, path } = location;
  const named = field === null ? path : pathOf(location, field);
  const extensions: Record<string, JsonValue> = {
    collection,
    ...(named !== undefined && { field: named }),
    type,
    ...(index !== undefined && { index }),
  };
  const text = `${field === null ? 'The item' : nameOf(location, field)} ${message}.`;
  return new PlatformError('FAILED_VALIDATION', text, extensions, cause === undefined ? {} : { cause });
}

function nameOf(location: Place, field: string): string {
  const { index } = location;
  const path = pathOf(location, field);
  return index === undefined ? `"${path}"` : `"${path}" of item ${index}`;
}

function pathOf({ path }: Place, field: string): string {
  return path === undefined ? field : `${path}.${field}`;
}
