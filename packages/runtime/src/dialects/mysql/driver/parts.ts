/** Calls of procedures, whose answers are any number of rows of any form. */
import type { Connection, FieldPacket } from 'mysql2';
import type { RowSink, StatementPart } from '../../../database/database.ts';
import type { SentParameter } from '../../../database/parameter-forms.ts';
import { toMysqlError } from './errors.ts';
import { run } from './run.ts';

/** Runs the parts of a statement one after the other, and hands what the last one answers to the sink. */
export async function runParts(
  connection: Connection,
  parts: readonly StatementPart[],
  sent: readonly SentParameter[],
  sink: RowSink,
): Promise<void> {
  let offset = 0;
  for (const [index, { text, parameters, call }] of parts.entries()) {
    const values = sent.slice(offset, offset + parameters);
    offset += parameters;
    const isLast = index === parts.length - 1;
    if (call !== true) await run(connection, text, values, isLast ? sink : { row() {} });
    else {
      const rows = await callProcedure(connection, text, values);
      if (isLast) putText(sink, rows);
    }
  }
}

/** The first rows that a call answers, as a JSON array of objects; the driver reads and drops all others. */
function callProcedure(connection: Connection, sql: string, sent: readonly SentParameter[]): Promise<string> {
  // Values as the server writes them: numbers of any size, times without a zone, JSON as text.
  const forms = { dateStrings: true, supportBigNumbers: true, bigNumberStrings: true, jsonStrings: true } as const;
  const values = sent.map((value) => (typeof value === 'bigint' ? String(value) : value));
  return new Promise((resolve, reject) => {
    connection.execute({ sql, values, rowsAsArray: true, ...forms }, (error, results, fields) => {
      if (error) reject(toMysqlError(error));
      else resolve(jsonOf(firstOf(results), firstOf(fields)));
    });
  });
}

/** Without rows the driver gives what the call counted alone. */
function firstOf(results: unknown): readonly unknown[] {
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  return Array.isArray(first) ? first : [];
}

function jsonOf(rows: readonly unknown[], fields: readonly unknown[]): string {
  const columns = fields.filter(isField).map((field) => ({ name: JSON.stringify(field.name), write: writerOf(field) }));
  const objects = rows.filter(Array.isArray).map((row: readonly unknown[]) => {
    const members = columns.map(
      ({ name, write }, index) => `${name}:${row[index] == null ? 'null' : write(row[index])}`,
    );
    return `{${members.join(',')}}`;
  });
  return `[${objects.join(',')}]`;
}

function isField(field: unknown): field is FieldPacket {
  return typeof field === 'object' && field !== null && 'name' in field;
}

/** Numbers of column types: tinyint, bigint, timestamp, datetime, bit, JSON. */
const types = { tiny: 1, long: 8, timestamp: 7, dateTime: 12, bit: 16, json: 245 } as const;

/** Values have the forms that the API gives columns of their types. */
function writerOf({ columnType, columnLength }: FieldPacket): (value: unknown) => string {
  const isFlag = columnLength === 1;
  switch (columnType) {
    case types.tiny:
      return (value) => (isFlag ? String(Number(value) !== 0) : String(value));
    case types.bit:
      return (value) => (isFlag && Buffer.isBuffer(value) ? String(value.some((byte) => byte !== 0)) : textOf(value));
    case types.long:
      return (value) => JSON.stringify(String(value));
    case types.json:
      return (value) => (typeof value === 'string' ? value : textOf(value));
    case types.timestamp:
      return (value) => JSON.stringify(`${momentOf(value)}+00:00`);
    case types.dateTime:
      return (value) => JSON.stringify(momentOf(value));
    default:
      return textOf;
  }
}

function momentOf(value: unknown): string {
  const [moment = '', fraction = ''] = String(value).replace(' ', 'T').split('.');
  const digits = fraction.replace(/0+$/, '');
  return digits === '' ? moment : `${moment}.${digits}`;
}

/** Bytes are base64, as in every answer. */
function textOf(value: unknown): string {
  return JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value);
}

function putText(sink: RowSink, text: string): void {
  const size = Buffer.byteLength(text);
  const row = Buffer.allocUnsafe(4 + size);
  row.writeInt32BE(size);
  row.write(text, 4);
  sink.row(row, 0, row.length);
}
