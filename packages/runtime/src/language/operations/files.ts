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
