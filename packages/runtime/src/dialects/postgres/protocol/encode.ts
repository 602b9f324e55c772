/**
 * Messages to the server: the extended query protocol, with parameters as text and results in binary or text.
 *
 * Source: PostgreSQL documentation, "Frontend/Backend Protocol", "Message Formats".
 */
import type { Parameter } from '../../../database/database.ts';
import type { ByteWriter } from '../../../json/byte-writer.ts';

/** Format in which all columns of a result are asked for. */
export type ResultFormat = 'text' | 'binary';

const letters = { parse: 80, bind: 66, execute: 69, sync: 83, flush: 72, close: 67, terminate: 88 } as const;
const statementKind = 83;
const portalKind = 80;

/** Bytes of a message apart from its texts, rounded up. */
const frame = 32;

/** Asks to prepare a statement under a name (empty: until the next unnamed one) with all parameter types inferred. */
export function writeParse(out: ByteWriter, name: string, text: string): void {
  out.reserve(frame + (name.length + text.length) * 3);
  const start = begin(out, letters.parse);
  putText(out, name);
  putText(out, text);
  putInt16(out, 0);
  finish(out, start);
}

/** Binds parameters to a prepared statement and makes the unnamed portal of it. */
export function writeBind(
  out: ByteWriter,
  name: string,
  parameters: readonly Parameter[],
  format: ResultFormat = 'binary',
): void {
  out.reserve(frame + name.length * 3);
  const start = begin(out, letters.bind);
  out.bytes[out.position++] = 0;
  putText(out, name);
  putInt16(out, 0);
  putInt16(out, parameters.length);
  for (const parameter of parameters) putParameter(out, parameter);
  out.reserve(frame);
  putInt16(out, 1);
  putInt16(out, format === 'binary' ? 1 : 0);
  finish(out, start);
}

/** Runs the unnamed portal up to a number of rows; 0 for all of them. */
export function writeExecute(out: ByteWriter, rows = 0): void {
  out.reserve(frame);
  const start = begin(out, letters.execute);
  out.bytes[out.position++] = 0;
  putInt32(out, rows);
  finish(out, start);
}

/** Ends the implicit transaction: the server answers with ReadyForQuery, also after errors since the last one. */
export function writeSync(out: ByteWriter): void {
  writeEmpty(out, letters.sync);
}

/** Requests the ready part of the answer without ending the transaction. */
export function writeFlush(out: ByteWriter): void {
  writeEmpty(out, letters.flush);
}

/** Forgets a prepared statement; one that does not exist is no error. */
export function writeCloseStatement(out: ByteWriter, name: string): void {
  writeClose(out, statementKind, name);
}

/** Ends the unnamed portal: a statement that has rows left is not run further. */
export function writeClosePortal(out: ByteWriter): void {
  writeClose(out, portalKind, '');
}

/** Says goodbye before the connection is closed. */
export function writeTerminate(out: ByteWriter): void {
  writeEmpty(out, letters.terminate);
}

function writeClose(out: ByteWriter, kind: number, name: string): void {
  out.reserve(frame + name.length * 3);
  const start = begin(out, letters.close);
  out.bytes[out.position++] = kind;
  putText(out, name);
  finish(out, start);
}

function writeEmpty(out: ByteWriter, letter: number): void {
  out.reserve(frame);
  finish(out, begin(out, letter));
}

/** Puts the letter and leaves room for the length; returns how many bytes stand before the message. */
function begin(out: ByteWriter, letter: number): number {
  const start = out.length;
  out.bytes[out.position] = letter;
  out.position += 5;
  return start;
}

function finish(out: ByteWriter, start: number): void {
  const length = out.length - start - 1;
  out.bytes.writeInt32BE(length, out.position - length);
}

function putParameter(out: ByteWriter, parameter: Parameter): void {
  out.reserve(frame + (parameter === null ? 0 : parameter.length * 3));
  if (parameter === null) putInt32(out, -1);
  else putSized(out, parameter);
}

function putSized(out: ByteWriter, parameter: string): void {
  const start = out.position;
  const length = out.bytes.write(parameter, start + 4, 'utf8');
  putInt32(out, length);
  out.position = start + 4 + length;
}

/** Puts a text and its end; a zero byte inside would end it early, so it must not be there. */
function putText(out: ByteWriter, text: string): void {
  out.position += out.bytes.write(text, out.position, 'utf8');
  out.bytes[out.position++] = 0;
}

function putInt16(out: ByteWriter, value: number): void {
  out.position = out.bytes.writeUInt16BE(value, out.position);
}

function putInt32(out: ByteWriter, value: number): void {
  out.position = out.bytes.writeInt32BE(value, out.position);
}
