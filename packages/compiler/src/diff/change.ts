/** Result of comparing two schemas. Plain data in a fixed order, so that equal results have equal bytes. */
import type { RuleId } from './rules.ts';

/** Where a client meets a change. */
export const surfaces = ['rest', 'openapi', 'graphql', 'client'] as const;

/** One of `surfaces`: requests and answers, the OpenAPI document, the GraphQL schema, the types of the generated client. */
export type Surface = (typeof surfaces)[number];

/**
 * `breaking`: something that worked fails. `dangerous`: it goes on without an error, but does or shows something else.
 * `safe`: no action is needed.
 */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** How severe a change is where; a surface that does not show it is absent. */
export type Verdicts = { readonly [surface in Surface]?: Severity };

/** Change of a role's permissions; `unclear` where neither set of rows is known to contain the other. */
export type Direction = 'widening' | 'narrowing' | 'unclear';

/** One change, for all the roles that it means the same to. */
export interface Change {
  readonly rule: RuleId;
  /** API names: `articles`, `articles.title`, `role editor`, `api`. */
  readonly subject: string;
  /** Sorted. */
  readonly roles: readonly string[];
  readonly verdicts: Verdicts;
  /** Set where the rights of the roles change; such a change is at least dangerous. */
  readonly rights?: Direction;
  /** The most severe of all of it. */
  readonly severity: Severity;
  /** The change as a whole sentence. */
  readonly message: string;
  /** Requests and GraphQL root fields that it concerns: `GET /items/articles`, `query articles`. */
  readonly operations: readonly string[];
}

/** The most severe of several; safe when there is none. */
export function mostSevere(severities: Iterable<Severity>): Severity {
  const all = new Set(severities);
  return all.has('breaking') ? 'breaking' : all.has('dangerous') ? 'dangerous' : 'safe';
}
