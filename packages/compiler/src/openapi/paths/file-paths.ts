/** Uploads and contents of files. Source: API specification, section 11. */
import { commonFailures } from '@tablewright/runtime/operations';
import type { RoleView } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf, type Parts, reference } from '../json.ts';
import { useHeader } from '../parameters.ts';
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
export function filePaths(view: RoleView): Parts {
  if (!readsFiles(view)) return [];
  const id = pathParameter('id', { type: 'string', format: 'uuid' });
  const filename = pathParameter('filename', { type: 'string', description: 'Any name, for people.' });
  return [
    ['/assets/{id}', { parameters: [id], get: readAsset('readAsset') }],
    ['/assets/{id}/{filename}', { parameters: [id, filename], get: readAsset('readNamedAsset') }],
  ];
}

function readsFiles({ collections }: RoleView): boolean {
  return collections.some(({ name, readable }) => name === files && readable);
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

/** Those of `transformations` that both paths refer to, as their texts are long. */
const shared = ['key', 'fit', 'transforms', 'download'];

export function assetParameters(view: RoleView): Parts {
  if (!readsFiles(view)) return [];
  return shared.map((name) => [name, { name, in: 'query', schema: transformations[name] ?? {} }]);
}

/** Answers with a content. */
export function assetResponses(view: RoleView): Parts {
  if (!readsFiles(view)) return [];
  const content = { '*/*': { schema: {} } };
  const headersOf = (...names: readonly string[]): JsonObject =>
    objectOf(names.map((name) => [name, { required: true, schema: { type: 'string' } }]));
  const whole = ['Accept-Ranges', 'Cache-Control', 'Content-Disposition', 'ETag', 'Last-Modified'];
  return [
    ['Asset', { description: 'The content.', headers: headersOf(...whole), content }],
    [
      'AssetPart',
      { description: 'The part that was asked for.', headers: headersOf('Content-Range', ...whole), content },
    ],
    [
      'AssetNotModified',
      { description: 'It has not changed.', headers: headersOf('Cache-Control', 'ETag', 'Last-Modified') },
    ],
  ];
}

function readAsset(operationId: string): JsonObject {
  const query = Object.entries(transformations).map(([name, schema]) =>
    shared.includes(name) ? reference('parameters', name) : { name, in: 'query', schema },
  );
  const header = ['Range', 'If-Range', 'If-Modified-Since'].map((name) => {
    return { name, in: 'header', schema: { type: 'string' } };
  });
  return {
    operationId,
    tags: ['files'],
    summary: 'Read the content of a file, or an image that is made of it',
    parameters: [...query, ...header, useHeader('ifNoneMatch')],
    responses: objectOf([
      ['200', reference('responses', 'Asset')],
      ['206', reference('responses', 'AssetPart')],
      ['304', reference('responses', 'AssetNotModified')],
      ...failuresByStatus([...commonFailures, 'Forbidden', 'RangeNotSatisfiable']),
    ]),
  };
}

function pathParameter(name: string, schema: JsonObject): JsonObject {
  return { name, in: 'path', required: true, schema };
}
