/** Severity of a change, by surface. */

/** Where a client meets a change. */
export const surfaces = ['rest', 'openapi', 'graphql', 'client'] as const;

/** One of `surfaces`: requests and answers, the OpenAPI document, the GraphQL schema, the types of the generated client. */
export type ApiSurface = (typeof surfaces)[number];

/**
 * `breaking`: something that worked fails. `dangerous`: it goes on without an error, but does or shows something else.
 * `safe`: no action is needed.
 */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** How severe a change is where; a surface that does not show it is absent. */
export type Verdicts = { readonly [surface in ApiSurface]?: Severity };

/** The most severe of several; safe when there is none. */
export function maxSeverity(severities: Iterable<Severity>): Severity {
  const all = new Set(severities);
  return all.has('breaking') ? 'breaking' : all.has('dangerous') ? 'dangerous' : 'safe';
}
