import type { Duplex } from 'node:stream';
import { kinds, MessageReader } from '../../../database/messages.ts';

/**
 * Reads along the bytes of a server and hands over those of every row, before `pg` gets to see them.
 *
 * It takes nothing away: `pg` reads the same bytes and drives the conversation. But it decodes every column as UTF-8,
 * binary ones too, and so destroys them (node-postgres issue 3495). Throws nothing; `broken` is called for bytes that
 * cannot be messages.
 */
export function tapRows(
  socket: Duplex,
  row: (buffer: Buffer, offset: number, length: number) => void,
  broken: (error: unknown) => void,
): void {
  const reader = new MessageReader((kind, buffer, start, end) => {
    if (kind === kinds.dataRow) row(buffer, start + 2, end - start - 2);
  });
  // Before the listener of `pg`: the rows of a batch must be there when it learns that the batch ends.
  socket.prependListener('data', (chunk: Buffer) => {
    try {
      reader.feed(chunk);
    } catch (error) {
      broken(error);
    }
  });
}
