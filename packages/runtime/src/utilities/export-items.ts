/** A list written down as a file of the platform. Source: API specification, section 13, `/utils/export`. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import type { DriftGuard } from '../drift-watch.ts';
import { PlatformError } from '../errors.ts';
import { createExportWriter } from '../export/writer.ts';
import { type Staged, stage } from '../files/staging.ts';
import type { FileMetadata, Once, Uploads } from '../files/uploads.ts';
import type { JsonValue } from '../language/index.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { filesName } from '../write/access/system-access.ts';
import type { KeptAnswer } from '../write/execute/idempotency.ts';
import type { RequestOrigin } from '../write/execute/running.ts';

export interface ExporterOptions {
  readonly database: Pick<Database, 'stream'>;
  readonly planner: Planner;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  readonly uploads: Uploads;
  /** Folder of the file before it is kept, and the most bytes that it may have. */
  readonly folder: string;
  readonly maxBytes: number;
}

interface ExportRequest {
  readonly caller: Caller;
  readonly collection: string;
  readonly sender: RequestOrigin;
  /** Address among whose streams this one counts. */
  readonly client: string;
  /** Aborted when the client leaves; the list is then read no further. */
  readonly gone: AbortSignal;
  /** As `export` of a query. */
  readonly format: string;
  readonly query: { readonly [name: string]: JsonValue };
  readonly file: FileMetadata;
}

/** Makes the export function. Rejects with errors of the query, and where the caller may not create files. */
export function createExporter({ database, planner, driftGuard, uploads, folder, maxBytes }: ExporterOptions) {
  async function write(
    { plan, statement, parameters }: PlannedRead,
    { client, gone }: Pick<ExportRequest, 'client' | 'gone'>,
  ): Promise<Staged> {
    if (plan.exported === undefined) throw new PlatformError('INVALID_QUERY');
    driftGuard(plan.statement);
    const rows = createExportWriter(plan, plan.exported.format)();
    const out = new PassThrough();
    const staged = stage(folder, out, maxBytes);
    // Looked at in the end; a disk that is full ends the statement at once.
    staged.catch((error: unknown) => out.destroy(error instanceof Error ? error : undefined));
    async function put(chunk: Buffer): Promise<void> {
      if (out.destroyed) throw new Error('The file cannot be written.');
      // The writer may reuse the memory of a chunk.
      if (!out.write(Buffer.from(chunk))) await Promise.race([once(out, 'drain'), once(out, 'close')]);
    }
    try {
      await database.stream(statement, parameters, rows, () => put(rows.read()), gone, client);
      await put(rows.end());
      out.end();
    } catch (error) {
      out.destroy(error instanceof Error ? error : undefined);
      // An error of the disk takes precedence over its consequences.
      await staged;
      throw error;
    }
    return staged;
  }

  return async function exportItems(request: ExportRequest, once: Once): Promise<KeptAnswer> {
    const { caller, collection, sender, format, query, file } = request;
    const planned = planner.search(caller, { name: collection }, { query: { ...query, export: format } });
    uploads.admit(caller, 'create');
    const staged = await write(planned, request);
    const name = `${collection}.${format}`;
    const stored = { caller, collection: filesName, query: '', sender, returning: () => null };
    return uploads.create(stored, [{ staged, name, metadata: file }], once);
  };
}
