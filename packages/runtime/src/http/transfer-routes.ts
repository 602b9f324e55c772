/** The routes that bring items into collections from files, and out of them into files. Source: specification, section 13. */
import type { IncomingMessage } from 'node:http';
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { unstage } from '../files/staging.ts';
import { isObject } from '../language/filter-syntax.ts';
import { createExporter, type ExporterOptions } from '../utilities/export-items.ts';
import { createImporter, type ImporterOptions, type ItemsFile } from '../utilities/import-items.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import type { Answerer, Exchange } from './answer.ts';
import { bodyObject, requiredText } from './auth-body.ts';
import type { Endpoint, Handler } from './endpoints.ts';
import { type FilePart, isMultipart, readMultipart } from './multipart.ts';
import { readPathTexts, splitTarget } from './target.ts';

/** Options of the import and export routes. */
export interface TransferEndpointsOptions extends Omit<ImporterOptions, 'database'>, Omit<ExporterOptions, 'database'> {
  readonly database: Pick<Database, 'transaction' | 'stream'>;
  /** Bytes of the fields beside a file. */
  readonly fieldSize: number;
  readonly answerer: Answerer;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

const importPath = '/utils/import/:collection';
const exportPath = '/utils/export/:collection';

/** Makes the endpoints. */
export function createTransferEndpoints(options: TransferEndpointsOptions): readonly Endpoint[] {
  const { folder, mostBytes, fieldSize, answerer, senderOf } = options;
  const importer = createImporter(options);
  const exportItems = createExporter(options);
  const limits = { folder, fileSize: mostBytes, fieldSize };

  function done(exchange: Exchange, status: 200 | 204): void {
    answerer.send(exchange, { status });
  }

  const importFile: Handler = async (exchange, { caller }) => {
    const { request } = exchange;
    const asked = { caller, collection: collectionIn(importPath, exchange), sender: senderOf(request) };
    if (!isMultipart(request)) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'Send a form with a file.');
    importer.admit(asked);
    const parts = await readMultipart(request, limits);
    try {
      const [part, ...others] = parts;
      if (part === undefined || others.length > 0) {
        throw new PlatformError('INVALID_PAYLOAD', 'The body must hold one file.');
      }
      await importer.run(asked, { path: part.staged.path, format: formatOf(part) });
    } finally {
      for (const { staged } of parts) await unstage(staged.path);
    }
    done(exchange, 200);
  };

  const exportFile: Handler = async (exchange, { caller }, body) => {
    const payload = bodyObject(body);
    const format = requiredText(payload, 'format');
    const { query, file = null } = payload;
    if (query === undefined) throw new PlatformError('INVALID_PAYLOAD', '"query" is required.');
    if (file !== null && !isObject(file)) throw new PlatformError('INVALID_PAYLOAD', '"file" must be an object.');
    const collection = collectionIn(exportPath, exchange);
    const sender = senderOf(exchange.request);
    await exportItems({ caller, collection, sender, format, query, file: file ?? {} });
    done(exchange, 204);
  };

  return [
    { url: importPath, handlers: new Map([['POST', importFile]]), takesParts: true },
    { url: exportPath, handlers: new Map([['POST', exportFile]]) },
  ];
}

function collectionIn(pattern: string, { request }: Exchange): string {
  return readPathTexts(pattern, splitTarget(request.url ?? '').path)?.get('collection')?.[0] ?? '';
}

const formats: ReadonlyMap<string, ItemsFile['format']> = new Map([
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/json', 'json'],
]);

/** Format of a file by its type or, if that is unspecific, by the ending of its name. */
function formatOf({ type, name }: FilePart): ItemsFile['format'] {
  const essence = type.split(';')[0]?.trim().toLowerCase() ?? '';
  const ending = /\.(csv|json)$/i.exec(name)?.[1]?.toLowerCase();
  const isByEnding = ['', 'application/octet-stream', 'text/plain', 'application/vnd.ms-excel'].includes(essence);
  const format = isByEnding && ending !== undefined ? (ending === 'csv' ? 'csv' : 'json') : formats.get(essence);
  if (format === undefined) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'The file must hold CSV or JSON.');
  return format;
}
