/** Operations that bring items into collections from files, and out of them into files. Source: specification, section 13. */
import type { Database } from '../../database/database.ts';
import { PlatformError } from '../../errors.ts';
import { unstage } from '../../files/staging.ts';
import type { transferResource } from '../../language/operations/index.ts';
import { createExporter, type ExporterOptions } from '../../utilities/export-items.ts';
import { createImporter, type ImporterOptions, type ItemsFile } from '../../utilities/import-items.ts';
import { type FilePart, isMultipart, readMultipart } from '../files/multipart.ts';
import { done, type Implementations } from './bind.ts';

/** Parts of a server that imports and exports use. */
export interface TransferOptions extends Omit<ImporterOptions, 'database'>, Omit<ExporterOptions, 'database'> {
  readonly database: Pick<Database, 'transaction' | 'stream'>;
  /** Bytes of the fields beside a file. */
  readonly fieldSize: number;
}

/** Imports and exports. */
export function transferOperations(options: TransferOptions): Implementations<typeof transferResource> {
  const { folder, maxBytes, fieldSize } = options;
  const importer = createImporter(options);
  const exportItems = createExporter(options);
  const limits = { folder, fileSize: maxBytes, fieldSize };
  return {
    async utilsImport({ collection }, { caller, sender, request }) {
      const requested = { caller, collection, sender };
      if (!isMultipart(request)) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'Send a form with a file.');
      importer.admit(requested);
      const parts = await readMultipart(request, limits);
      try {
        const [part, ...others] = parts;
        if (part === undefined || others.length > 0) {
          throw new PlatformError('INVALID_PAYLOAD', 'The body must hold one file.');
        }
        await importer.run(requested, { path: part.staged.path, format: formatOf(part) });
      } finally {
        for (const { staged } of parts) await unstage(staged.path);
      }
      return done;
    },
    async utilsExport({ file, ...input }, { caller, sender }) {
      await exportItems({ caller, sender, ...input, file: file ?? {} });
      return done;
    },
  };
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
