/**
 * What lists take beyond items: aggregation and files. Source: API specification, sections 5.5 and 5.6; `having` and
 * `ndjson` are additions.
 */
import type { JsonObject } from './json.ts';

const fields: JsonObject = {
  anyOf: [
    { type: 'array', items: { type: 'string' } },
    { type: 'string', description: 'Names with commas.' },
  ],
};

const functions = ['count', 'countDistinct', 'countAll', 'sum', 'sumDistinct', 'avg', 'avgDistinct', 'min', 'max'];

/** Parameters of lists that answer something else than items. */
export const aggregation = {
  aggregate: {
    description:
      'Answers aggregate rows instead of items: functions with the fields they take, as `aggregate[sum]=a`; ' +
      '`aggregate[count]=*` counts items.',
    schema: {
      type: 'object',
      properties: Object.fromEntries(functions.map((name) => [name, fields])),
      additionalProperties: false,
    },
  },
  groupBy: {
    description: 'Fields and functions of them, such as `year(a)`, that make one aggregate row per value.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  having: {
    description: 'Conditions that aggregate rows must meet: `having={"count":{"_gt":2},"sum":{"a":{"_lt":9}}}`.',
    schema: { type: 'object' },
  },
  export: {
    description: 'Answers the list as a file of this format.',
    schema: { type: 'string', enum: ['csv', 'json', 'xml', 'yaml', 'ndjson'] },
  },
} as const satisfies Record<string, { readonly description: string; readonly schema: JsonObject }>;

const file = { schema: { type: 'string' } };

/** The contents of an exported list beside JSON. */
export const files: JsonObject = {
  'text/csv': file,
  'text/xml': file,
  'text/yaml': file,
  'application/x-ndjson': file,
};
