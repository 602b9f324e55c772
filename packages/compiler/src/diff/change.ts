/** Result of comparing two schemas. Plain data in a fixed order, so that equal results have equal bytes. */
import type { RuleId, Severity, Verdicts } from './rules.ts';

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
