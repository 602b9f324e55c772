/** Files and their contents. Source: API specification, sections 11 and 15. */
import type { JsonObject, Key, Parameters, Query, RequestOptions } from './call.ts';
import { createItemHandler, type ItemHandler, type Payload } from './items.ts';
import type { Page, Requester } from './requester.ts';

/** A file that the server fetches. */
export interface ImportData<Data = JsonObject> {
  /** Address of the server, http or https. */
  readonly url: string;
  /** Fields of the file. */
  readonly data?: Data;
}

/** Methods of files beside those of a collection. */
export interface Uploads<File, Data> {
  /**
   * Has the server fetch a file.
   * @example const file = await client.files.import({ url: 'https://example.com/a.png', data: { title: 'A' } });
   */
  import(data: ImportData<Data>, query?: Query, options?: RequestOptions): Promise<File | null>;
}

/** Files. A form is an upload: fields stand in front of the file that they belong to. */
export interface FilesHandler<File> extends ItemHandler<File>, Uploads<File, Payload<File>> {
  /**
   * Creates a file; a form brings its content.
   * @example
   * const form = new FormData();
   * form.append('title', 'A text');
   * form.append('file', new File(['Hello'], 'hello.txt'));
   * const file = await client.files.createOne(form);
   */
  createOne(data: Payload<File> | FormData, query?: Query, options?: RequestOptions): Promise<File | null>;
  /**
   * A form with several files makes several.
   * @example
   * const form = new FormData();
   * for (const name of ['a.txt', 'b.txt']) form.append('file', new File([name], name));
   * const { data } = await client.files.createMany(form);
   */
  createMany(data: readonly Payload<File>[] | FormData, query?: Query, options?: RequestOptions): Promise<Page<File>>;
  /**
   * A form gives the file another content.
   * @example await client.files.updateOne('8cbb43fe-4cdf-4991-8352-c461779cec02', { title: 'Another title' });
   */
  updateOne(key: Key, data: Payload<File> | FormData, query?: Query, options?: RequestOptions): Promise<File | null>;
}

/** Makes the handler of files. */
export function createFilesHandler<File>(requester: Requester): FilesHandler<File> {
  const path = ['files'];
  return {
    ...createItemHandler<File>(requester, path),
    createOne: (body, query, options) => requester.written({ method: 'POST', path, query, body, options }),
    createMany: (body, query, options) => requester.page({ method: 'POST', path, query, body, options }),
    updateOne: (key, body, query, options) =>
      requester.written({ method: 'PATCH', path: [...path, key], query, body, options }),
    import: (body, query, options) =>
      requester.written({ method: 'POST', path: [...path, 'import'], query, body, options }),
  };
}

/** Contents of files. */
export interface AssetsHandler {
  /**
   * The content of a file, as a stream; an image also transformed, as by `{ width: 200 }`.
   * @example
   * const small = await client.assets.readOne('8cbb43fe-4cdf-4991-8352-c461779cec02', { width: 200 });
   * const bytes = await new Response(small).bytes();
   */
  readOne(id: string, query?: Parameters, options?: RequestOptions): Promise<ReadableStream<Uint8Array>>;
}

/** Makes the handler of contents. */
export function createAssetsHandler({ send }: Requester): AssetsHandler {
  return {
    async readOne(id, query, options) {
      const { body } = await send({ method: 'GET', path: ['assets', id], query, options });
      return body ?? new Blob([]).stream();
    },
  };
}
