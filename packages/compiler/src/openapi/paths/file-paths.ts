/** Uploads and contents of files. Source: API specification, section 11. */
import { commonFailures } from '@tablewright/runtime/operations';
import type { RoleView } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf, type Parts } from '../json.ts';
import { failuresByStatus } from '../responses.ts';
import { type Addressed, files } from './addressed.ts';

/** The form in which a content is sent, beside JSON; nothing for collections without contents. */
export function uploadContent({ writes }: Addressed, action: 'create' | 'update'): JsonObject {
  const fields = writes?.forms?.[action];
  if (fields === undefined) return {};
  const file = {
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: action === 'create' ? 'The content. There may be several, each after its fields.' : 'The content.',
  };
  const properties = objectOf([...fields.map((field) => [field, { type: 'string' }] as const), ['file', file]]);
  return { 'multipart/form-data': { schema: { type: 'object', properties, required: ['file'] } } };
}

/** The paths of files beside those of their collection, as far as an access class may use them. */
export function filePaths({ collections }: RoleView): Parts {
  const collection = collections.find(({ name }) => name === files);
  if (collection === undefined) return [];
  const id = pathParameter('id', { type: 'string', format: 'uuid' });
  const filename = pathParameter('filename', { type: 'string', description: 'Any name, for people.' });
  return [
    ...(collection.readable
      ? [
          ['/assets/{id}', { parameters: [id], get: readAsset('readAsset') }] as const,
          ['/assets/{id}/{filename}', { parameters: [id, filename], get: readAsset('readNamedAsset') }] as const,
        ]
      : []),
  ];
}

const sides = { type: 'integer', minimum: 1 };

/** Parameters by which an image is made into another one. */
const transformations: Readonly<Record<string, JsonObject>> = {
  key: { type: 'string', description: 'Name of a preset, of the project or `system-small-cover` and so on.' },
  width: sides,
  height: sides,
  fit: { type: 'string', enum: ['cover', 'contain', 'inside', 'outside'] },
  quality: { type: 'integer', minimum: 1, maximum: 100 },
  withoutEnlargement: { type: 'boolean' },
  format: { type: 'string', enum: ['jpg', 'png', 'webp', 'avif'] },
  transforms: { type: 'string', description: 'A JSON list of operations, `[["blur", 4], ["flip"]]`.' },
  download: { type: 'string', description: 'Makes a browser save the file, with any value.' },
};

function readAsset(operationId: string): JsonObject {
  const content = { '*/*': { schema: {} } };
  const headers = { ETag: { required: true, schema: { type: 'string' } } };
  const query = Object.entries(transformations).map(([name, schema]) => ({ name, in: 'query', schema }));
  const header = ['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'].map((name) => {
    return { name, in: 'header', schema: { type: 'string' } };
  });
  return {
    operationId,
    tags: ['files'],
    summary: 'Read the content of a file',
    description: 'With parameters an image is made into another one; other contents are sent as they are.',
    parameters: [...query, ...header],
    responses: objectOf([
      ['200', { description: 'The content.', headers, content }],
      ['206', { description: 'The part that was asked for.', headers, content }],
      ['304', { description: 'It has not changed.', headers }],
      ...failuresByStatus([...commonFailures, 'Forbidden', 'RangeNotSatisfiable']),
    ]),
  };
}

function pathParameter(name: string, schema: JsonObject): JsonObject {
  return { name, in: 'path', required: true, schema };
}
