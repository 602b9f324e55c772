import type { RowContext } from './database/row-context.ts';

/**
 * The caller of a request: an explicit argument everywhere, without a default.
 *
 * `user` and `role` are keys in text form; null for an anonymous caller and for a static token without a user.
 */
export interface Caller {
  readonly accessClass: string;
  readonly user: string | null;
  readonly role: string | null;
  /** Set for one who may do everything: answers name what does not exist. */
  readonly administrator?: true;
  /** Key of the session whose temporary token was sent. */
  readonly session?: string;
  /** Settings under which policies judge the caller's statements. Absent where callers are not passed on. */
  readonly rowContext?: RowContext;
}
