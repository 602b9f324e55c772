import type { Parameter, RowSink } from '../../database/database.ts';
import { readRow, type TextRow } from '../../database/own-statements.ts';
import type { Request } from './protocol/request.ts';

/** Runs a query without a prepared statement of its own and collects its rows. */
export async function readTexts(
  read: (request: Request, sink: RowSink) => Promise<void>,
  text: string,
  parameters: readonly Parameter[],
  observer?: Pick<RowSink, 'sent'>,
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  const sink: RowSink = {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
    sent: (now) => observer?.sent?.(now),
  };
  await read({ name: '', text, parameters, format: 'text' }, sink);
  return rows;
}
