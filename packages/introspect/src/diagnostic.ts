/** A finding about the database or the configuration: the fact, its place, the reason, and the cure. */
export interface Diagnostic {
  /** Stable, lower case with dashes: `name-collision`. */
  readonly code: string;
  /** `error` stops the compilation; `warning` names something that is left out; `info` names a choice made. */
  readonly severity: 'error' | 'warning' | 'info';
  /** `table public.articles`, `column public.articles.id`, `permissions.yaml:12:7`. */
  readonly place: string;
  /** A whole sentence, identifiers in double quotes. */
  readonly message: string;
  /** The cure, as a sentence. */
  readonly hint: string | null;
}
