/** Errors of graphql-js about a document or variables, as errors of the API specification, section 14.1. */
import type { GraphQLError } from 'graphql';
import { PlatformError } from '../../errors.ts';

/** A place in a document, both counted from 1. */
interface DocumentLocation {
  readonly line: number;
  readonly column: number;
}

/** INVALID_QUERY for a document or its variables; further errors follow the first. */
export class DocumentError extends PlatformError {
  readonly locations: readonly DocumentLocation[];

  constructor(message: string, locations: readonly DocumentLocation[] = [], others: readonly DocumentError[] = []) {
    super('INVALID_QUERY', message, {}, { others });
    this.locations = locations;
  }
}

/** Takes what graphql-js found to one error, or undefined where it found nothing. Values of the request are left out. */
export function documentError(found: readonly GraphQLError[]): DocumentError | undefined {
  const [first, ...others] = found.map(({ message, locations = [] }) => ({
    message: withoutValues(message),
    locations,
  }));
  if (first === undefined) return undefined;
  const behind = others.map(({ message, locations }) => new DocumentError(message, locations));
  return new DocumentError(first.message, first.locations, behind);
}

/**
 * A message without the value that it repeats at its end: values may be passwords, and messages are logged. graphql-js
 * introduces them by `, found: `, `; found: `, its parser by the kind of a token, and scalars and enumerations by `value: `.
 */
function withoutValues(message: string): string {
  return message
    .replace(
      /(?:[,;] found| Found|(cannot represent [^:"]*?value)): [\s\S]*$/,
      (_all, kept?: string) => `${kept ?? ''}.`,
    )
    .replace(/\b(String|BlockString|Int|Float) "[\s\S]*"/, 'a value')
    .replace(/ cannot represent value\.$/, ' cannot represent the value.')
    .replace(/Value "[\s\S]*" does not exist in /, 'The value does not exist in ');
}

/** Prints the body of a request that was refused: as everywhere, with the places in the document where there are any. */
export function documentErrorBody(error: PlatformError): string {
  return JSON.stringify({
    errors: [error, ...error.others].map((entry) => ({
      message: entry.message,
      ...(entry instanceof DocumentError && entry.locations.length > 0 && { locations: entry.locations }),
      extensions: { code: entry.code, ...entry.extensions },
    })),
  });
}
