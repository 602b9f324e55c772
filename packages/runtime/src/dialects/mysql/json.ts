/**
 * JSON of MySQL and MariaDB. JSON_TABLE takes arrays apart, and in FROM sees the row around a subquery on both servers.
 * Its argument is named first: on MySQL it sees nothing from within a subquery of its own.
 */
import type { JsonKind } from '../../language/operators/definition.ts';
import { isIndex, type JsonDialect, type JsonPath, type Value } from '../dialect.ts';
import { rawColumns } from './rows/columns.ts';
import { type PlainSign, plainSigns } from './rows/nested.ts';

const kinds: Readonly<Record<JsonKind, string>> = {
  text: "'STRING'",
  number: "'INTEGER', 'DOUBLE', 'DECIMAL', 'UNSIGNED INTEGER'",
  boolean: "'BOOLEAN'",
};

const number = 'DECIMAL(65,30)';

/** Names a value in FROM, as the column `e`. */
type Naming = (json: string, name: string) => string;

/** On MySQL a subquery in FROM sees the row around it. */
const byQuery: Naming = (json, name) => `(SELECT ${json} AS e) ${name}`;
const byTable: Naming = (json, name) => `JSON_TABLE(${json}, '$' COLUMNS (e JSON PATH '$')) ${name}`;

/** Comparisons of JSON on MySQL or MariaDB; `exactly` is the dialect's. */
export function mysqlJson(server: 'mysql' | 'mariadb', exactly: (expression: string) => string): JsonDialect {
  const named = server === 'mysql' ? byQuery : byTable;
  const jsonAt = (document: string, path: JsonPath): string => printAt(named, document, path);
  const comparedAs = (json: string, kind: JsonKind): string => {
    const text = `JSON_UNQUOTE(${json})`;
    if (kind === 'text') return exactly(text);
    return kind === 'number' ? `CAST(${text} AS ${number})` : `(${text} = 'true')`;
  };
  /** A scalar as a text that two of them share when they are equal: 1 and 1.0 are, 1 and "1" are not. */
  const identityOf = (json: string): string => {
    const cases = (['text', 'number', 'boolean'] as const).map((kind) => {
      const value = kind === 'number' ? `CAST(${comparedAs(json, kind)} AS CHAR)` : `JSON_UNQUOTE(${json})`;
      return `WHEN JSON_TYPE(${json}) IN (${kinds[kind]}) THEN CONCAT('${kind}:', ${value})`;
    });
    return exactly(`CASE ${cases.join(' ')} END`);
  };
  return {
    document: (cell, { native }) => (native === 'json' ? cell : `CASE WHEN JSON_VALID(${cell}) THEN ${cell} END`),
    at: jsonAt,
    presence: (document, path) => `NULLIF(JSON_TYPE(${jsonAt(document, path)}), 'NULL')`,
    scalar(document, path, kind) {
      const json = jsonAt(document, path);
      return `(CASE WHEN JSON_TYPE(${json}) IN (${kinds[kind]}) THEN ${comparedAs(json, kind)} END)`;
    },
    container(document, alias) {
      const elements = (list: string, name: string): string =>
        `${named(list, `${name}l`)}, JSON_TABLE(${name}l.e, '$[*]' COLUMNS (e JSON PATH '$')) ${name}`;
      const isThere = (sought: string): string => {
        const owned = alias();
        const rows = `(SELECT ${identityOf(`${owned}.e`)} AS i FROM ${elements(document, owned)})`;
        return `IFNULL(${identityOf(`${sought}.e`)} IN ${rows}, FALSE)`;
      };
      const guarded = (predicate: string): string =>
        `(CASE WHEN JSON_TYPE(${document}) = 'ARRAY' THEN ${predicate} END)`;
      const some = (list: string, condition: (sought: string) => string): string => {
        const sought = alias();
        return `EXISTS (SELECT 1 FROM ${elements(list, sought)} WHERE ${condition(sought)})`;
      };
      return {
        one: (value) => `JSON_ARRAY(${value})`,
        all: (list) => guarded(`NOT ${some(list, (sought) => `NOT ${isThere(sought)}`)}`),
        any: (list) => guarded(some(list, isThere)),
        guarded,
      };
    },
  };
}

/** The JSON at a path. A number is an element of an array, and a key of anything else, so its container comes first. */
function printAt(named: Naming, document: string, { segments, take: shape }: JsonPath): string {
  const steps: string[] = [];
  let json = document;
  let from = 0;
  const takeKeys = (to: number): void => {
    if (to > from) json = `JSON_EXTRACT(${json}, ${shape(`path:${from}-${to}`)})`;
  };
  for (const [position, segment] of segments.entries()) {
    if (!isIndex(segment)) continue;
    takeKeys(position);
    const name = `s${steps.length}`;
    steps.push((steps.length === 0 ? named : byTable)(json, name));
    const index = `CAST(${shape(`index:${position}`)} AS SIGNED)`;
    const counted = `${index} + IF(${index} < 0, JSON_LENGTH(${name}.e), 0)`;
    const element = `JSON_EXTRACT(${name}.e, CONCAT('$[', ${counted}, ']'))`;
    const key = `JSON_EXTRACT(${name}.e, ${shape(`path:${position}-${position + 1}`)})`;
    json = `CASE WHEN JSON_TYPE(${name}.e) <> 'ARRAY' THEN ${key} WHEN ${counted} >= 0 THEN ${element} END`;
    from = position + 1;
  }
  takeKeys(segments.length);
  return steps.length === 0 ? json : `(SELECT ${json} FROM ${steps.join(', ')})`;
}

/** A value as arguments of the CONCAT that makes a record: a column that is never null needs none of its own. */
export function within(value: Value): string {
  if (value.present !== true || value.nested) return encoded(value);
  const { expression } = value;
  const plain = plainValue(expression);
  if (plain !== undefined) return `'${plain.sign}', ${plain.expression}, ';'`;
  return bare.test(expression) ? `LENGTH(${expression}), ':', ${expression}` : encoded(value);
}

/** A value as one text, be it missing. */
export function encoded({ expression, nested }: Value): string {
  if (nested) return `IFNULL(${expression}, '~')`;
  const plain = plainValue(expression);
  if (plain !== undefined) return `IFNULL(CONCAT('${plain.sign}', ${plain.expression}, ';'), '~')`;
  return `IFNULL(CONCAT(LENGTH(${expression}), ':', ${expression}), '~')`;
}

const column = '(t\\d+\\."(?:[^"]|"")*")';

/** As the compiler has integers spelled. */
const integer = new RegExp(`^CAST\\(${column} AS CHAR\\(20\\)\\)$`);

/** As the compiler has times spelled: with fractions or without, with a zone or without. */
const time = new RegExp(
  `^(CONCAT\\()?(?:TRIM\\(TRAILING '\\.' FROM TRIM\\(TRAILING '0' FROM )?DATE_FORMAT\\(${column}, '%Y-%m-%dT%H:%i:%s(?:\\.%f)?'\\)(?:\\)\\))?(?:, '\\+00:00'\\))?$`,
);

const bare = new RegExp(`^${column}$`);

/** Numbers that functions of groups come to. */
const counted = /^CAST\((COUNT\([^()]*\)) AS CHAR\)$/;
const computed = /^CAST\((?:COUNT|SUM|AVG)\([^()]*\) AS CHAR\)$/;

/** A value within a record whose text ends at a mark, and the sign in front that says what the text is. */
interface PlainValue {
  readonly sign: PlainSign;
  readonly expression: string;
}

/**
 * The value of an expression whose text holds digits, points, signs and letters only; undefined for any other
 * expression. Such a text ends at a mark, so that the server computes it once; for other texts it has to print the
 * length. A column of integers or times stands for itself, and the server writes it as it likes best.
 */
export function plainValue(expression: string): PlainValue | undefined {
  const [, whole] = integer.exec(expression) ?? [];
  if (whole !== undefined) return { sign: plainSigns.as, expression: whole };
  const [, zoned, moment] = time.exec(expression) ?? [];
  if (moment !== undefined) {
    return { sign: zoned === undefined ? plainSigns.dateTime : plainSigns.instant, expression: moment };
  }
  return computed.test(expression) ? { sign: plainSigns.as, expression } : undefined;
}

/**
 * The column itself, or a count, under the name that tells the lane how it is spelled; undefined for any other
 * expression.
 *
 * Columns of answers that MySQL and MariaDB need not format, which takes them longer than finding the rows. The binary
 * protocol has integers and times as numbers, and the driver formats these. Within a record everything is one text.
 */
export function rawColumn(expression: string): string | undefined {
  const [, whole] = integer.exec(expression) ?? counted.exec(expression) ?? [];
  if (whole !== undefined) return `${whole} AS "${rawColumns.integer}"`;
  const [, zoned, moment] = time.exec(expression) ?? [];
  if (moment === undefined) return undefined;
  return `${moment} AS "${zoned === undefined ? rawColumns.dateTime : rawColumns.instant}"`;
}
