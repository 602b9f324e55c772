/** Types of columns in MySQL and MariaDB. */
import { formOf } from '../../../database/parameter-forms.ts';
import { failedValidation, invalidPayload } from '../../../json/problems.ts';
import type { JsonValue, PortableType, ValueType } from '../../../language/index.ts';
import type {
  ColumnDefinition,
  ComputedType,
  FoundColumn,
  ModelStep,
  NewType,
  PlainTypeName,
} from '../../../model/model-sql.ts';
import type { Payload } from '../../../model/payload.ts';
import { digitsOf, secondsOf } from '../../postgres/ddl/types.ts';
import { quoteMysqlText, ticked } from '../texts.ts';

/** Differences between the servers of the family. */
export interface MysqlKind {
  readonly isMariadb: boolean;
  readonly hasUuid: boolean;
}

/** Type of a column of identifiers where the server has no type for them. */
const identifierText = 'char(36) CHARACTER SET ascii COLLATE ascii_bin';

/** The data types that columns of a type may have, the usual one first. There are no intervals. */
const dataTypes: Readonly<Record<Exclude<PlainTypeName, 'uuid' | 'interval'>, readonly [string, ...string[]]>> = {
  string: ['varchar', 'char', 'inet4', 'inet6'],
  text: ['longtext', 'mediumtext', 'text', 'tinytext'],
  integer: [...signedOrNot('int', 'smallint', 'mediumint', 'tinyint'), 'year'],
  bigInteger: signedOrNot('bigint'),
  decimal: signedOrNot('decimal'),
  float: signedOrNot('double', 'float'),
  boolean: ['tinyint(1)', 'tinyint', 'tinyint unsigned', 'bit'],
  date: ['date'],
  time: ['time'],
  dateTime: ['datetime'],
  timestamp: ['timestamp'],
  json: ['json', 'longtext'],
  csv: ['longtext', 'text', 'varchar'],
  binary: ['longblob', 'mediumblob', 'blob', 'tinyblob', 'varbinary', 'binary', 'bit'],
  hash: ['varchar', 'text', 'longtext'],
  secret: ['varchar', 'text', 'longtext'],
};

function signedOrNot(first: string, ...others: readonly string[]): readonly [string, ...string[]] {
  return [first, ...others, ...[first, ...others].map((name) => `${name} unsigned`)];
}

/** PostgreSQL's names, and short ones. */
const otherNames: Readonly<Record<string, string>> = {
  'character varying': 'varchar',
  character: 'char',
  integer: 'int',
  'integer unsigned': 'int unsigned',
  numeric: 'decimal',
  'double precision': 'double',
  real: 'float',
  boolean: 'tinyint(1)',
  bool: 'tinyint(1)',
  'time without time zone': 'time',
  'timestamp without time zone': 'datetime',
  'timestamp with time zone': 'timestamp',
  timestamptz: 'timestamp',
  jsonb: 'json',
  bytea: 'longblob',
};

/** Prints the type of a column. Throws INVALID_PAYLOAD. */
export function mysqlType(
  { isMariadb, hasUuid }: MysqlKind,
  type: PlainTypeName,
  schema: Payload,
  values?: readonly string[],
): string {
  if (values !== undefined) return `set(${values.map((value) => quoteMysqlText(value)).join(',')})`;
  if (type === 'uuid') return hasUuid ? 'uuid' : identifierText;
  if (type === 'interval') throw invalidPayload('The database has no type for intervals: take text, or a number.');
  const { data_type: dataType = null, max_length: length = null } = schema;
  const allowed = dataTypes[type].filter((name) => isMariadb || !name.startsWith('inet'));
  const name = (typeof dataType === 'string' ? dataType.toLowerCase() : allowed[0]) ?? type;
  const [, plain = name, zeros = ''] = /^(.* unsigned)( zerofill)$/.exec(name) ?? [];
  const requested = (Object.hasOwn(otherNames, plain) ? otherNames[plain] : undefined) ?? plain;
  if (!allowed.includes(requested)) {
    throw invalidPayload(`"schema.data_type" of ${type} must be ${allowed.join(' or ')}.`);
  }
  switch (type) {
    case 'boolean':
      return requested.replace(/^(tinyint|bit)(?:\(1\))?/, '$1(1)');
    case 'json':
      return 'json';
    case 'decimal':
      return `${requested.replace('decimal', `decimal(${digitsOf(schema)})`)}${zeros}`;
    case 'time':
    case 'dateTime':
    case 'timestamp':
      return `${requested}${secondsOf(schema) || '(6)'}`;
    default:
      return /(?:char|binary|bit)$/.test(requested)
        ? `${requested}(${length ?? (requested === 'bit' ? 8 : 255)})`
        : `${requested}${zeros}`;
  }
}

const now = /^(?:now|current_timestamp|localtimestamp)(?:\(\d?\))?$/i;
const computed: Readonly<Record<string, readonly [RegExp, string]>> = {
  timestamp: [now, 'CURRENT_TIMESTAMP'],
  dateTime: [now, 'CURRENT_TIMESTAMP'],
  date: [/^(?:now|current_date|curdate)(?:\(\))?$/i, '(CURRENT_DATE)'],
  uuid: [/^(?:gen_random_)?uuid\(\)$/i, '(uuid())'],
};

/** A default that the database computes; undefined for what is none. */
export function mysqlComputed({ type, precision = 6 }: ComputedType, value: JsonValue): string | undefined {
  const [pattern, sql] = computed[type] ?? [];
  if (typeof value !== 'string' || pattern?.test(value) !== true) return undefined;
  // The servers refuse another number of digits than the column has.
  return sql === 'CURRENT_TIMESTAMP' ? `${sql}(${precision})` : sql;
}

/** Types of which MySQL takes no constant as a default, but an expression. */
const expressed: ReadonlySet<string> = new Set(['text', 'csv', 'json', 'binary']);

/** A value in the text form of PostgreSQL as the SQL of a default. */
export function mysqlLiteral({ isMariadb }: MysqlKind, { type }: ValueType, text: string): string {
  const sql = literalOf(type, text);
  return expressed.has(type) && !isMariadb ? `(${sql})` : sql;
}

function literalOf(type: PortableType, text: string): string {
  switch (type) {
    case 'boolean':
      return formOf(text, 'boolean');
    case 'timestamp':
    case 'dateTime':
      return quoteMysqlText(formOf(text, 'instant'));
    case 'binary':
      return `X'${text.replace(/^\\x/, '')}'`;
    default:
      return quoteMysqlText(text);
  }
}

const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** A definition with its texts whole: the servers print a question mark for a character of four bytes, and odd bytes. */
export function withTexts({ column: { type, values, fallback }, schema: { default_value: text } }: FoundColumn) {
  const whole = (printed: string): string => {
    if (type === 'binary') return fallback ?? printed;
    return typeof text === 'string' && printed.includes('?') ? quoteMysqlText(text) : printed;
  };
  return (printed: ColumnDefinition): ColumnDefinition => ({
    ...printed,
    type: values === undefined || !printed.type.includes('?') ? printed.type : enumLike(printed.type, values),
    default: /^'.*'$/s.test(printed.default ?? '') ? whole(printed.default ?? '') : printed.default,
  });
}

/** An enum of these values, which is otherwise like a printed one. */
export function enumLike(printed: string, values: readonly string[]): string {
  return printed.replace(
    /^enum\((?:'(?:[^']|'')*'|,)+\)/i,
    () => `enum(${values.map((value) => quoteMysqlText(value)).join(',')})`,
  );
}

/** Plans it: conditions on the values, and the new definition. */
export function retyped(
  { isMariadb, hasUuid }: MysqlKind,
  found: FoundColumn,
  { type, sql, valueSource: backfill, refusal }: NewType,
): readonly ModelStep[] {
  const { collection, field, descriptor, column, type: typeBefore } = found;
  const location = { collection, field };
  const table = ticked(descriptor.table);
  const name = ticked(column.column);
  const isMoment = type === 'timestamp' || type === 'dateTime';
  // MySQL takes a constant as a default of other types, but not of these, and the clock of moments alone.
  const keptDefault = (text: string): string =>
    !isMariadb && !text.startsWith('(') && (expressed.has(type) || (now.test(text) && !isMoment)) ? `(${text})` : text;
  const steps: ModelStep[] = [];
  if (type === 'uuid' && !hasUuid) {
    // They are texts there, of which the type would take any.
    const misfit = failedValidation({ collection, index: undefined }, field, 'check', 'has values that do not fit');
    const check = `SELECT NOT EXISTS (SELECT 1 FROM ${table} WHERE NOT (${name} REGEXP '${uuidPattern}'))`;
    steps.push({ kind: 'check', sql: check, place: location, refusal: misfit });
  }
  if (refusal !== null) {
    const fitting = type === 'boolean' ? `${sql} CHECK (fresh IN (0, 1))` : sql;
    steps.push({ kind: 'fit', table, column: name, type: fitting, place: location, refusal });
  }
  const to = (before: ColumnDefinition): ColumnDefinition => {
    // MariaDB has JSON as texts with a check.
    const isJson = before.check !== null && /^\(\s*json_valid\(`/i.test(before.check);
    const stays = isJson && sql === 'json';
    // Characters of identifiers are not for other texts.
    const collation = typeBefore === 'uuid' ? '' : collationOf(before.type, sql);
    return {
      ...before,
      type: stays ? before.type : sql + collation,
      default: backfill === undefined ? before.default && keptDefault(before.default) : backfill,
      rest: restOf(before.rest, isMoment),
      check: isJson && !stays ? null : before.check,
    };
  };
  steps.push({
    kind: 'alter',
    table,
    part: { kind: 'modify', column: name, to, whole: withTexts(found), lossy: refusal === null },
    place: location,
  });
  return steps;
}

/** Other parts of a column: only moments are set by updates, to as many digits as they have. */
function restOf(rest: readonly string[], isMoment: boolean): readonly string[] {
  const clock = isMoment ? 'ON UPDATE CURRENT_TIMESTAMP(6)' : '';
  const text = rest
    .join(' ')
    .replace(/\bON UPDATE \S+/i, clock)
    .trim();
  return text === '' ? [] : [text];
}

const texts = /^(?:(?:var)?char|(?:tiny|medium|long)?text)\b/i;

/** Texts go on being compared as they were. */
function collationOf(before: string, after: string): string {
  if (!texts.test(before) || !texts.test(after) || after === identifierText) return '';
  const [clause = ''] = / (?:CHARACTER SET|CHARSET|COLLATE) .*$/is.exec(before) ?? [];
  return clause;
}
