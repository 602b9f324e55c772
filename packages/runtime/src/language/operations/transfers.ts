/** Items from files and into files. Source: API specification, section 13. */
import type { Resource } from './operation.ts';

const failures = [
  'InvalidWrite',
  'Unauthorized',
  'Forbidden',
  'UnsupportedMediaType',
  'RequestsExceeded',
  'InternalServerError',
  'ServiceUnavailable',
] as const;

/** Formats of lists that are written down. */
export const exportFormats = ['csv', 'json', 'xml', 'yaml', 'ndjson'] as const;

/** Imports and exports. */
export const transferResource = {
  tag: 'utils',
  installed: true,
  operations: {
    utilsImport: {
      route: 'POST /utils/import/{collection}',
      summary: 'Write the items of a file',
      description: 'Creates them, or updates those that there are by their keys, in one transaction.',
      access: 'anyone',
      input: { collection: { type: 'string', collections: 'importable' } },
      form: {
        type: 'multipart/form-data',
        members: {
          file: {
            type: 'string',
            contentMediaType: 'text/csv',
            description: 'CSV with a row of names, or JSON.',
          },
        },
      },
      output: { status: 200, description: 'They are written.' },
      failures,
    },
    utilsExport: {
      route: 'POST /utils/export/{collection}',
      summary: 'Keep a list as a file',
      description: 'Writes the items that the query selects to a file of the platform.',
      access: { action: 'create', collection: 'platform_files' },
      input: {
        collection: { type: 'string', collections: 'exportable' },
        query: { type: 'object', description: 'As the query of SEARCH.', additionalProperties: true },
        format: { type: 'string', enum: exportFormats, refusal: 'INVALID_QUERY' },
        'file?': {
          type: ['object', 'null'],
          description: 'Fields of the file.',
          additionalProperties: true,
        },
      },
      output: { description: 'It is kept.' },
      failures,
    },
  },
} as const satisfies Resource;
