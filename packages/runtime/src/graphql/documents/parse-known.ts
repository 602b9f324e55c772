import { Kind, parse } from 'graphql';
import type { CheckedDocument } from './check-document.ts';

/** Parses the text of an operation that was valid when it was compiled. */
export function parseKnown(text: string): CheckedDocument {
  const document = parse(text);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('The document has no operation.');
  return { document, operation };
}
