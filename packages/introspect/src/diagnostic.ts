import { compareText } from './order.ts';
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

const colors = { error: '\u001b[31m', warning: '\u001b[33m', info: '\u001b[36m' } as const;
const dim = '\u001b[2m';
const reset = '\u001b[0m';

/**
 * Prints diagnostics for people, one block each: severity, code and place, then the message, then the hint.
 *
 * Errors come first, then warnings, then notes; within a severity the order given stays. No trailing newline.
 */
export function printDiagnostics(diagnostics: readonly Diagnostic[], options: { readonly color: boolean }): string {
  const ordered = (['error', 'warning', 'info'] as const).flatMap((severity) =>
    diagnostics.filter((diagnostic) => diagnostic.severity === severity),
  );
  return ordered.map((diagnostic) => printDiagnostic(diagnostic, options.color)).join('\n');
}

function printDiagnostic(diagnostic: Diagnostic, color: boolean): string {
  const severity = color ? `${colors[diagnostic.severity]}${diagnostic.severity}${reset}` : diagnostic.severity;
  const head = `${severity} ${diagnostic.code} at ${visible(diagnostic.place)}`;
  const hint =
    diagnostic.hint === null ? [] : [`  ${color ? dim : ''}${visible(diagnostic.hint)}${color ? reset : ''}`];
  return [head, `  ${visible(diagnostic.message)}`, ...hint].join('\n');
}

/** Names come from outside: control characters, and those that turn the direction of a text, must not reach a reader. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A place in the configuration: `platform.config.ts: collections.articles.fields`. */
export function configPlace(...path: readonly (string | number)[]): string {
  const steps = path.map(pathStep).join('').replace(/^\./, '');
  return steps === '' ? 'platform.config.ts' : `platform.config.ts: ${steps}`;
}

function pathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(
    (left, right) =>
      compareText(left.place, right.place) ||
      compareText(left.code, right.code) ||
      compareText(left.message, right.message),
  );
}
