/** Files from elsewhere. Source: API specification, section 11. */
import type { Database } from '../../database/database.ts';
import type { FilesEnvironment } from '../../environment/files.ts';
import { PlatformError, readErrorBody } from '../../errors.ts';
import { createFetchFile } from '../../files/fetch-file.ts';
import type { FileServices } from '../../files/services.ts';
import { unstage } from '../../files/staging.ts';
import type { FileMetadata } from '../../files/uploads.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { fileResource, transferResource } from '../../language/operations/index.ts';
import { createExporter, type ExporterOptions } from '../../utilities/export-items.ts';
import { createImporter, type ImporterOptions, type ItemsFile } from '../../utilities/import-items.ts';
import { filesName } from '../../write/access/system-access.ts';
import { readIdempotencyKey } from '../../write/execute/idempotency.ts';
import { filesInForms } from '../failures.ts';
import { type FilePart, isMultipart, readMultipart } from '../files/multipart.ts';
import { done, type Implementations } from './bind.ts';

export function fileOperations(
  { storages, uploads }: Pick<FileServices, 'storages' | 'uploads'>,
  environment: FilesEnvironment,
): Implementations<typeof fileResource> {
  const fetchFile = createFetchFile(environment.import);
  const { staging } = storages.first.storage;
  return {
    async importFile({ url, data }, { caller, sender, query, request, returning }) {
      uploads.admit(caller, 'create');
      // Other documents read other parts of a file, so an answer with a selection is not stored for the key.
      const key = returning === undefined ? readIdempotencyKey(request.headers['idempotency-key']) : undefined;
      const written = {
        caller,
        collection: filesName,
        query,
        sender,
        ...(key && { key }),
        ...(returning && { returning }),
      };
      const fetched = await fetchFile(url, staging);
      const { status, body } = await uploads.create(written, [{ ...fetched, metadata: withKeys(data ?? {}) }]);
      if (status >= 400 && body !== null) throw readErrorBody(body);
      return { value: body };
    },
  };
}

/** An item that has only its key stands for it, as in other payloads. */
function withKeys(data: FileMetadata): FileMetadata {
  const entries = Object.entries(data).map(([name, value]): [string, JsonValue] => {
    const isLink = isObject(value) && Object.keys(value).join() === 'id';
    return [name, isLink ? (value.id ?? null) : value];
  });
  return Object.fromEntries(entries);
}

interface TransferOptions extends Omit<ImporterOptions, 'database'>, Omit<ExporterOptions, 'database'> {
  readonly database: Pick<Database, 'transaction' | 'stream'>;
  /** Bytes of the fields beside a file. */
  readonly fieldSize: number;
}

export function transferOperations(options: TransferOptions): Implementations<typeof transferResource> {
  const { folder, maxBytes, fieldSize } = options;
  const importer = createImporter(options);
  const exportItems = createExporter(options);
  const limits = { folder, fileSize: maxBytes, fieldSize };
  return {
    async utilsImport({ collection }, { caller, sender, request }) {
      const requested = { caller, collection, sender };
      if (!isMultipart(request)) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', filesInForms);
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
