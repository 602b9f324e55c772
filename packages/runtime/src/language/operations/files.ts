/** Files beside their collection. Source: API specification, section 11. */
import { commonFailures } from './failures.ts';
import type { Resource } from './operation.ts';

/** Files from elsewhere. */
export const fileResource = {
  tag: 'files',
  installed: true,
  operations: {
    importFile: {
      route: 'POST /files/import',
      summary: 'Fetch a file from elsewhere',
      description: 'Asks the server of the address for the content, and keeps it as a new file.',
      access: { action: 'create', collection: 'platform_files' },
      keyed: true,
      input: {
        url: {
          type: 'string',
          format: 'uri',
          description: 'An address of http or https in a public network; redirects are not followed.',
        },
        'data?': {
          type: ['object', 'null'],
          description: 'Fields of the file.',
          additionalProperties: true,
          payload: 'platform_files',
        },
      },
      output: {
        description: 'The file.',
        item: 'platform_files',
        empty: 'It is kept, and nothing of it can be read.',
      },
      failures: [
        ...commonFailures.filter((name) => name !== 'InvalidQuery'),
        ...(['InvalidWrite', 'Forbidden', 'UnsupportedMediaType', 'Unprocessable'] as const),
      ],
      graphql: { mutation: 'import_file' },
    },
  },
} as const satisfies Resource;

const failures = [
  'InvalidWrite',
  'Unauthorized',
  'Forbidden',
  'UnsupportedMediaType',
  'Unprocessable',
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
      keyed: true,
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
      keyed: true,
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
