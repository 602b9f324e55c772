/** Items from files and into files. Source: API specification, section 13. */

import type { FailureName } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import type { RoleView } from '../role-view/role-view.ts';
import { exported } from './exports.ts';
import { anyObject, type JsonObject, objectOf } from './json.ts';
import { failuresByStatus } from './responses.ts';
import { utilityTag } from './utility-paths.ts';
import { orNull } from './values.ts';

const failures = [
  'InvalidWrite',
  'Unauthorized',
  'Forbidden',
  'UnsupportedMediaType',
  'RequestsExceeded',
  'InternalServerError',
  'ServiceUnavailable',
] as const satisfies readonly FailureName[];

/** The paths, as far as the class may write imported items, or read and keep exported ones. */
export function transferPaths(api: Api, { collections }: RoleView): readonly (readonly [string, JsonObject])[] {
  const importable = new Set(
    api.collections.flatMap(({ descriptor: { name, system, singleton } }) => (system || singleton ? [] : [name])),
  );
  const files = collections.find(({ name }) => name === 'platform_files');
  const installed = api.collections.some(({ descriptor }) => descriptor.name === 'platform_files');
  const imported = collections.filter(({ name, writes }) => importable.has(name) && writes?.create && writes.update);
  const read = files?.writes?.create ? collections.filter(({ readable }) => readable) : [];
  return [
    ...(installed && imported.length > 0 ? [pathOf('import', imported, importItems())] : []),
    ...(read.length > 0 ? [pathOf('export', read, exportItems())] : []),
  ];
}

function pathOf(
  name: 'import' | 'export',
  collections: RoleView['collections'],
  post: JsonObject,
): readonly [string, JsonObject] {
  const names = collections.map((collection) => collection.name);
  const parameter = { name: 'collection', in: 'path', required: true, schema: { type: 'string', enum: names } };
  return [`/utils/${name}/{collection}`, { post: { ...post, parameters: [parameter] } }];
}

function importItems(): JsonObject {
  const file = { type: 'string', contentMediaType: 'text/csv', description: 'CSV with a row of names, or JSON.' };
  const schema = { type: 'object', properties: { file }, required: ['file'] };
  return {
    operationId: 'utilsImport',
    tags: [utilityTag],
    summary: 'Write the items of a file',
    description: 'Creates them, or updates those that there are by their keys, in one transaction.',
    requestBody: { required: true, content: { 'multipart/form-data': { schema } } },
    responses: objectOf([['200', { description: 'They are written.' }], ...failuresByStatus(failures)]),
  };
}

function exportItems(): JsonObject {
  const schema = {
    type: 'object',
    properties: {
      query: anyObject('As the query of SEARCH.'),
      format: exported.schema,
      file: orNull(anyObject('Fields of the file.')),
    },
    required: ['query', 'format'],
  };
  return {
    operationId: 'utilsExport',
    tags: [utilityTag],
    summary: 'Keep a list as a file',
    description: 'Writes the items that the query selects to a file of the platform.',
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: objectOf([['204', { description: 'It is kept.' }], ...failuresByStatus(failures)]),
  };
}
