/** Why a field does not take a value: the type of FAILED_VALIDATION, and a sentence without its subject. */
export interface FieldProblem {
  readonly type: string;
  readonly message: string;
}
