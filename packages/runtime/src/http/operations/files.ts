/** Files from elsewhere. Source: API specification, section 11. */
import type { FilesEnvironment } from '../../environment/files.ts';
import { readErrorBody } from '../../errors.ts';
import { createFetchFile } from '../../files/fetch-file.ts';
import type { FileServices } from '../../files/services.ts';
import type { FileMetadata } from '../../files/uploads.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { fileResource } from '../../language/operations/index.ts';
import { filesName } from '../../write/access/uploading-access.ts';
import { readIdempotencyKey } from '../../write/execute/idempotency.ts';
import type { Implementations } from './bind.ts';

/** Files from elsewhere. */
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
