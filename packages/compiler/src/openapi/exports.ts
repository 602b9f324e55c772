/** Lists as files. Source: API specification, section 5.6; `ndjson` is an addition. */
import { exportFormats } from '@tablewright/runtime/operations';
import type { JsonObject } from './json.ts';

/** The parameter that asks for a file. */
export const exported = {
  description: 'Answers the list as a file of this format.',
  schema: { type: 'string', enum: exportFormats },
} as const satisfies { readonly description: string; readonly schema: JsonObject };

const file = { schema: { type: 'string' } };

/** The contents of an exported list beside JSON. */
export const files: JsonObject = {
  'text/csv': file,
  'text/xml': file,
  'text/yaml': file,
  'application/x-ndjson': file,
};
