/** Messages that apply the settings of a caller in front of a statement. */
import type { RowContext } from '../../../database/row-context.ts';
import { ByteWriter, giveBack } from '../../../json/byte-writer.ts';
import { writeBind, writeExecute } from './encode.ts';

/** Messages of callers whose settings are prepared: most callers send many requests. */
const prepared = new WeakMap<RowContext, Buffer>();

/** Writes the messages that run the settings, whose statement is prepared under `name`; empty for the latest Parse. */
export function writeSettings(out: ByteWriter, context: RowContext, name: string): void {
  if (name === '') writeRun(out, context, name);
  else out.append(prepared.get(context) ?? prepare(context, name));
}

function prepare(context: RowContext, name: string): Buffer {
  const out = new ByteWriter();
  writeRun(out, context, name);
  const written = out.takeBytes();
  const bytes = Buffer.from(written);
  giveBack(written);
  prepared.set(context, bytes);
  return bytes;
}

function writeRun(out: ByteWriter, { apply }: RowContext, name: string): void {
  writeBind(out, name, apply.parameters, 'text');
  writeExecute(out);
}
