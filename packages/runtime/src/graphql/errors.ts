/** Errors of a running operation, as its answer reports them. Source: API specification, 9 and 14.1. */
import { type FieldNode, getLocation } from 'graphql';
import type { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';

/** Failure of a root field. */
export interface FieldFailure {
  /** Response name. */
  readonly key: string;
  /** Every place of the document that asks for it. */
  readonly nodes: readonly FieldNode[];
  readonly error: PlatformError;
}

/** Prints the member `errors` of an answer: one entry per error, each with its place. */
export function printErrors(failures: readonly FieldFailure[]): string {
  const entries = failures.flatMap(({ key, nodes, error }) =>
    [error, ...error.others].map(({ message, code, extensions }): JsonValue => {
      const locations = locationsOf(nodes);
      return {
        message,
        ...(locations.length > 0 && { locations }),
        path: [key],
        extensions: { code, ...extensions },
      };
    }),
  );
  return JSON.stringify(entries);
}

function locationsOf(nodes: readonly FieldNode[]): readonly { readonly line: number; readonly column: number }[] {
  return nodes.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = getLocation(loc.source, loc.start);
    return { line, column };
  });
}
