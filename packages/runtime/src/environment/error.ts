/** One variable whose value cannot be used. */
export interface EnvironmentProblem {
  readonly variable: string;
  /** A whole sentence that starts with the variable and never repeats a secret value. */
  readonly message: string;
}

/** Thrown by `serve` when environment variables cannot be used; its message has one line per variable. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  readonly problems: readonly EnvironmentProblem[];

  constructor(problems: readonly EnvironmentProblem[]) {
    super(problems.map(({ message }) => message).join('\n'));
    this.problems = problems;
  }
}
