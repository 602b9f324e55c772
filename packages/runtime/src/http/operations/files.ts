/** Files from elsewhere. Source: API specification, section 11. */
import type { IncomingMessage } from 'node:http';
import type { FilesEnvironment } from '../../environment/files.ts';
import { clientOf } from '../../environment/networks.ts';
import { PlatformError } from '../../errors.ts';
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
import type { Writer } from '../../write/writer.ts';
import { filesInForms } from '../failures.ts';
import { type FilePart, isMultipart, readMultipart } from '../files/multipart.ts';
import { done, type Implementations } from './bind.ts';
import { onceOf, runOnce, runUnlessKept } from './once.ts';

export function fileOperations(
  { storages, uploads }: Pick<FileServices, 'storages' | 'uploads'>,
  environment: FilesEnvironment,
  writer: Pick<Writer, 'once' | 'kept'>,
): Implementations<typeof fileResource> {
  const fetchFile = createFetchFile(environment.import);
  const { staging } = storages.first.storage;
  return {
    async importFile({ url, data: sent }, context) {
      const { caller, sender, query, returning } = context;
      const data = sent ?? {};
      const once = onceOf(context, { url, data });
      const written = { caller, collection: filesName, query, sender, ...(returning && { returning }) };
      const work = async () => {
        uploads.admit(caller, 'create');
        const fetched = await fetchFile(url, staging, clientOf(sender));
        return uploads.create(written, [{ ...fetched, metadata: withKeys(data) }], once);
      };
      return { value: await runUnlessKept(writer, once, work) };
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

interface TransferOptions extends Omit<ImporterOptions, 'itemSize'>, ExporterOptions {
  readonly writer: Pick<Writer, 'workOf' | 'once' | 'kept'>;
  /** Bytes of the fields beside a file. */
  readonly fieldSize: number;
}

export function transferOperations(options: TransferOptions): Implementations<typeof transferResource> {
  const { folder, maxBytes, fieldSize, writer } = options;
  const importer = createImporter({ ...options, itemSize: fieldSize });
  const exportItems = createExporter(options);
  const limits = { folder, fileSize: maxBytes, fieldSize, files: 1 };
  return {
    async utilsImport({ collection }, context) {
      const { caller, sender, request } = context;
      const requested = { caller, collection, sender };
      if (!isMultipart(request)) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', filesInForms);
      importer.admit(requested);
      const [part] = await readMultipart(request, limits);
      const { path, sha256 } = part.staged;
      try {
        const format = formatOf(part);
        await runOnce(writer, onceOf(context, { sha256, format }), async () =>
          importer.workOf(requested, { path, format }),
        );
      } finally {
        await unstage(path);
      }
      return done;
    },
    async utilsExport({ file: sent, ...input }, context) {
      const { caller, sender, request } = context;
      const file = sent ?? {};
      const once = onceOf(context, { ...input, file });
      const exported = { ...input, caller, sender, client: clientOf(sender), file };
      await runUnlessKept(writer, once, () =>
        whileConnected(request, (gone) => exportItems({ ...exported, gone }, once)),
      );
      return done;
    },
  };
}

/** Runs work with a signal that is aborted when the client leaves. */
async function whileConnected<T>({ socket }: IncomingMessage, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  if (socket.destroyed) leave();
  socket.once('close', leave);
  try {
    return await work(gone.signal);
  } finally {
    socket.off('close', leave);
  }
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
