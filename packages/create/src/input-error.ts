/** A mistake of the person who calls: one sentence, and perhaps the cure as another one. */
export class InputError extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = 'InputError';
    this.hint = hint;
  }
}
