/** Constraints of the database, told in terms of the API. Source: API specification, section 9. */
import { isNoAmount, isRaised, raisedForCaller, ServerError } from '../../database/errors.ts';
import { PlatformError } from '../../errors.ts';
import { failedValidation, missingValue } from '../../json/problems.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import { type ConstraintDescriptor, type JsonValue, quoteName, quoteQualified } from '../../language/index.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { staticTokenRule } from '../../system/fields/field-rules.ts';
import type { WriteScope } from '../access/scope.ts';
import { readsEveryRow, readsNames } from '../checks/check.ts';
import type { Batch } from '../decode/batch.ts';

/** A write, with the context by which errors of the database about it are explained. */
export interface AffectedConstraints {
  readonly scope: WriteScope;
  readonly collection: CollectionScope;
  /** Place of the items in the payload: the way to one, or the names of relations to several. Default: they are its items. */
  readonly path?: string;
  readonly names: ReadonlySet<string>;
  /** Fields that the caller may write. */
  readonly writable: ReadonlySet<string>;
  /** The keys that the payload links; absent where it links none itself. */
  readonly findKeys?: FindKeys;
  /** Finds rules that the items break, which come before constraints; undefined for none. */
  readonly broken?: (cause: ServerError, names: ReadonlySet<string>) => PlatformError | undefined;
}

/** SQLSTATEs of what the database does not take, and what they mean. */
const limits: ReadonlyMap<string, string> = new Map([
  ['22001', 'max_length'],
  // Longer than an index, a row or a packet takes.
  ['54000', 'max_length'],
  ['22003', 'range'],
  ['22008', 'range'],
  ['22015', 'range'],
  ['44000', 'check'],
  // Raised by a trigger to refuse a row.
  ['P0001', 'check'],
]);

/** SQLSTATEs of values that only the database can tell are none of their type: addresses, XML, extensions. */
const malformed: ReadonlySet<string> = new Set(['22P02', '22007', '2200N', '2200M', '22P03', '22P05', '22023']);

/** Takes an error of a transaction to the one that answers it; one about other collections names nothing. */
export function explainViolation(thrown: unknown, collections: readonly AffectedConstraints[]): unknown {
  const explained = explainConstraint(thrown, collections);
  const isInvalid =
    explained !== thrown && explained instanceof PlatformError && explained.code === 'FAILED_VALIDATION';
  if (!isInvalid || !(explained.cause instanceof ServerError)) return explained;
  const { cause } = explained;
  return (
    collections.map(({ broken, names }) => broken?.(cause, names)).find((error) => error !== undefined) ?? explained
  );
}

function explainConstraint(thrown: unknown, collections: readonly AffectedConstraints[]): unknown {
  if (!(thrown instanceof PlatformError) || !(thrown.cause instanceof ServerError)) return thrown;
  // Told already, by the step that failed.
  if (thrown.extensions.collection !== undefined) return thrown;
  const { cause } = thrown;
  const raised = raisedForCaller(cause);
  if (raised !== undefined) return raised;
  const [first] = collections;
  if (first === undefined) return thrown;
  const found = affectedBy(cause, collections);
  const affected = found ?? first;
  const { path } = affected;
  const location = {
    collection: affected.collection.descriptor.name,
    index: undefined,
    ...(path !== undefined && { path }),
  };
  const fail = (field: string | null, type: string, message: string): PlatformError =>
    failedValidation(location, field, type, message, cause);
  if (cause.sqlstate === '23502') {
    const isSure = found !== undefined || (cause.about.table === undefined && collections.length === 1);
    if (isSure && isNew(cause, affected)) return newColumn(cause, affected);
    const field = missingField(cause, affected);
    return fail(field, 'required', missingValue(field));
  }
  const limit = isNoAmount(cause) ? 'range' : limits.get(cause.sqlstate);
  const named = found === undefined && collections.length > 1 ? null : namedField(cause, affected);
  if (limit !== undefined) return fail(named, limit, named === null ? refused : (beyond[limit] ?? refused));
  if (malformed.has(cause.sqlstate)) {
    return new PlatformError('INVALID_PAYLOAD', misfit(cause, path, named), {}, { cause });
  }
  const type = thrown.code === 'FAILED_VALIDATION' ? String(thrown.extensions.type) : undefined;
  if (type === undefined)
    return thrown.code === 'SERVICE_UNAVAILABLE' && isRaised(cause) ? fail(null, 'check', refused) : thrown;
  const constraint = constraintOf(cause, affected);
  const fields = (constraint?.fields ?? []).filter((name) => isNamed(affected, name));
  // The error of a domain tells no column: it may be that of another field.
  const isUnclear = cause.about.domain !== undefined && (found === undefined || fields.length > 1);
  const [field = null] = isUnclear ? [] : fields;
  if (type === 'foreign_key' && constraint !== undefined && isLink(affected, constraint)) {
    if (!mayKnow(affected, constraint)) return new PlatformError('FORBIDDEN', undefined, {}, { cause });
    const isComplete = constraint.fields.every((name) => isNamed(affected, name));
    return fail(field, type, missingParent(constraint, isComplete ? affected.findKeys : undefined, cause.about.values));
  }
  // The error does not tell that another user has the token.
  if (type === 'unique' && isToken(affected, constraint)) return fail(field, 'check', staticTokenRule);
  const others = fields.filter((name) => name !== field).map((name) => JSON.stringify(name));
  const isTogether = field !== null && others.length > 0;
  if (cause.sqlstate === '23P01') {
    return fail(
      field,
      type,
      `conflicts with another item${isTogether ? `, together with ${others.join(' and ')}` : ''}`,
    );
  }
  if (type === 'unique' && isTogether)
    return fail(field, type, `has a value that is taken together with that of ${others.join(' and ')}`);
  return fail(field, type, messages[type] ?? 'is not valid');
}

/** The name of the unique key that has the value already; undefined for any other error. */
export function takenKey(error: unknown): string | undefined {
  if (!(error instanceof PlatformError) || !(error.cause instanceof ServerError)) return undefined;
  const { sqlstate, about } = error.cause;
  return sqlstate === '23505' ? about.constraint : undefined;
}

/** True for what the database says of rows, by constraints, types or triggers: it comes after rules and links. */
export function isOfRows(error: unknown): boolean {
  if (!(error instanceof PlatformError) || error.code === 'FORBIDDEN') return false;
  const { cause } = error;
  if (!(cause instanceof ServerError)) return false;
  const { sqlstate } = cause;
  const isListed = sqlstate.startsWith('23') || limits.has(sqlstate) || malformed.has(sqlstate);
  return isListed || raisedForCaller(cause) !== undefined || isRaised(cause);
}

/** True if a collection has a constraint of that name; a partition's constraint belongs to none. */
export function isKnown({ collections }: WriteScope['open'], constraint: string): boolean {
  return [...collections.values()].some(({ descriptor }) =>
    descriptor.constraints?.some(({ name }) => name === constraint),
  );
}

const refused = 'is refused by the database';

/** Sentences about a field whose column does not take a value, by type. */
const beyond: Readonly<Record<string, string>> = { max_length: 'is too long', range: 'is out of range' };

function misfit({ sqlstate }: ServerError, path: string | undefined, field: string | null): string {
  const named = field === null ? null : JSON.stringify(path === undefined ? field : `${path}.${field}`);
  return sqlstate === '22P05'
    ? `${named ?? 'A text'} has a character that its column does not take.`
    : `${named ?? 'A value'} is none of its type.`;
}

const messages: Readonly<Record<string, string>> = {
  unique: 'has a value that is taken',
  foreign_key: 'is linked with other items, which do not allow this',
  check: 'does not meet a condition of the database',
};

/** Returns the write that an error is about. Without a table it is the last one with such a key. */
function affectedBy(cause: ServerError, collections: readonly AffectedConstraints[]): AffectedConstraints | undefined {
  if (cause.about.domain !== undefined) {
    const [only, ...others] = collections.filter((affected) =>
      constraintOf(cause, affected)?.fields.some((name) => isNamed(affected, name)),
    );
    return others.length === 0 ? only : undefined;
  }
  if (cause.about.table !== undefined) return collections.find(({ collection }) => isAbout(cause, collection));
  const [likely, ...others] = collections.filter((affected) => namedField(cause, affected) !== null);
  if (likely !== undefined) return others.length === 0 ? likely : undefined;
  return collections.findLast((affected) => constraintOf(cause, affected) !== undefined);
}

function isAbout({ about }: ServerError, { descriptor }: CollectionScope): boolean {
  const { schema = '', table = '' } = about;
  // Tables of the connection's own database may stand without it.
  return [quoteQualified(schema, table), quoteName(table)].includes(descriptor.table);
}

function constraintOf({ about }: ServerError, { collection }: AffectedConstraints): ConstraintDescriptor | undefined {
  return collection.descriptor.constraints?.find(({ name }) => name === (about.domain ?? about.constraint));
}

function isToken({ collection }: AffectedConstraints, constraint: ConstraintDescriptor | undefined): boolean {
  const { fields } = collection.descriptor;
  return constraint?.fields.some((name) => fields.find((field) => field.name === name)?.type === 'token') === true;
}

/** A field is named when the request has it and the caller may write it. */
function isNamed({ names, writable }: AffectedConstraints, field: string): boolean {
  return names.has(field) && writable.has(field);
}

/** The one field of the request whose column an error names, or else its type: casts tell no column. */
function namedField({ about, sqlstate, message }: ServerError, affected: AffectedConstraints): string | null {
  const isTyped = about.column === undefined && malformed.has(sqlstate);
  // Values stand in quotes.
  const terms = message.split(/["']/, 1).flatMap((text) => text.split(/\W+/));
  const { fields } = affected.collection.descriptor;
  const [field, ...others] = fields.filter(({ name, column, native, stored = native }) => {
    const isMeant = isTyped
      ? terms.includes(/(\w+)\W*$/.exec(stored)?.[1] ?? '?')
      : column === quoteName(about.column ?? '');
    return isMeant && isNamed(affected, name);
  });
  return field !== undefined && others.length === 0 ? field.name : null;
}

/** The field of a column that must not be null, where it is required of the caller. */
function missingField({ about }: ServerError, { collection, writable }: AffectedConstraints): string | null {
  const field = collection.descriptor.fields.find(({ column }) => column === quoteName(about.column ?? ''));
  return field !== undefined && writable.has(field.name) ? field.name : null;
}

/** True if an error is about a column that came after the API was compiled, so that no payload can have a value for it. */
function isNew({ about: { column } }: ServerError, { collection }: AffectedConstraints): boolean {
  return column !== undefined && !collection.descriptor.fields.some((field) => field.column === quoteName(column));
}

function newColumn(cause: ServerError, { collection }: AffectedConstraints): PlatformError {
  const text = `The column "${cause.about.column}" of ${collection.descriptor.table} needs a value and is not compiled.`;
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error(text, { cause }) });
}

/** True if the payload gives a key that the constraint looks up; otherwise other items refer to the written one. */
function isLink({ names }: AffectedConstraints, { fields }: ConstraintDescriptor): boolean {
  return fields.some((name) => names.has(name));
}

/** True if the caller may learn that an item is missing and not hidden: every item can be read, with what names it. */
function mayKnow({ scope, collection }: AffectedConstraints, { target, fields }: ConstraintDescriptor): boolean {
  const readable = target === undefined ? undefined : scope.read.collections.get(target);
  if (scope.admin || readable === undefined) return scope.admin;
  const columns = fields.map((name) => collection.descriptor.fields.find((field) => field.name === name)?.column);
  const { relations, links: unnamed = [] } = collection.descriptor;
  const links = [...relations, ...unnamed].filter((relation) => relation.kind === 'm2o');
  const meant = links.filter((link) => link.target === target && link.on.every(({ from }) => columns.includes(from)));
  return readsEveryRow(readable) && meant.every((link) => readsNames(readable, link));
}

/** Returns the keys that a request gives to fields: the parts for each item that has them all. */
type FindKeys = (fields: readonly string[]) => readonly (readonly string[])[];

/** Keys that are told; more say no more. */
const maxKeys = 5;
const longestKey = 64;

/**
 * A sentence without its subject. It names keys of the request only, all of whose parts the caller has sent: `values` of the
 * database, in its own form, choose among them.
 */
function missingParent(
  { target, fields }: ConstraintDescriptor,
  keysOf: FindKeys | undefined,
  values: string | undefined,
): string {
  if (target === undefined) return 'names an item that does not exist';
  const keys = new Map((keysOf?.(fields) ?? []).map((parts) => [parts.join(', '), parts.join(',')]));
  const meant = values === undefined ? undefined : keys.get(values);
  const texts = (meant === undefined ? [...keys.values()] : [meant]).map(shortened);
  const [only] = texts;
  if (only === undefined || texts.length > maxKeys) return `names ${target} that do not exist`;
  if (texts.length === 1) return `cannot be linked: there is no ${target} with the key ${only}`;
  return `cannot be linked: there is no ${target} with one of the keys ${texts.join(', ')}`;
}

function shortened(key: string): string {
  return JSON.stringify(key.length <= longestKey ? key : `${key.slice(0, longestKey).toWellFormed()}…`);
}

export function keysInPayloads(payloads: readonly FilterObject[]): FindKeys {
  return (fields) => payloads.flatMap((payload) => complete(fields.map((name) => scalarText(payload, name))));
}

/** The keys in a batch that came with the request. */
export function keysInBatch({ columns, count }: Batch): FindKeys {
  return function givenKeys(fields) {
    const parts = fields.map((name) => columns.find(({ field, linked }) => !linked && field.descriptor.name === name));
    return Array.from({ length: count }, (_, item) => parts.map((column) => column?.values[item] ?? null)).flatMap(
      complete,
    );
  };
}

function complete(parts: readonly (string | null)[]): readonly (readonly string[])[] {
  const texts = parts.filter((part) => part !== null);
  return texts.length === parts.length ? [texts] : [];
}

function scalarText(payload: FilterObject, name: string): string | null {
  const value: JsonValue = (Object.hasOwn(payload, name) ? payload[name] : null) ?? null;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
