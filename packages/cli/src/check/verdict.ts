/** Results of `platform check` for two of the things that have to fit: database, IR, generated files, permissions. */

/** Sides of a comparison. */
export type Party = 'database' | 'platform.schema.json' | 'generated' | 'permissions.yaml';

/** One reason why two things do not fit. */
export interface Finding {
  /** `column public.articles.title`, `permissions.yaml:4:7`, `generated/routes/articles.js`. */
  readonly object: string;
  /** A whole sentence. */
  readonly message: string;
}

/** The verdict about a pair. */
export interface Verdict {
  readonly pair: readonly [Party, Party];
  /** `unknown` where one of the two is missing or cannot be read. */
  readonly verdict: 'fits' | 'differs' | 'unknown';
  /** Why it does not fit, or the missing parts. */
  readonly findings: readonly Finding[];
}

/** Makes a verdict of findings: none means that the two fit. */
export function verdictOf(pair: Verdict['pair'], findings: readonly Finding[]): Verdict {
  return { pair, verdict: findings.length === 0 ? 'fits' : 'differs', findings };
}

/** The verdict where there is nothing to compare; `message` is a whole sentence. */
export function unknown(pair: Verdict['pair'], object: string, message: string): Verdict {
  return { pair, verdict: 'unknown', findings: [{ object, message }] };
}
