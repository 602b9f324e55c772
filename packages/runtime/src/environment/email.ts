/** Characters of the longest address of a user. Source: API specification, section 10.13. */
export const longestEmail = 128;

/** True if a text is an e-mail address: one at sign, something on either side, nothing that breaks a mail's header. */
export function isEmail(text: string): boolean {
  return /^[^\s@"(),:;<>[\\\]\p{Cc}\p{Cf}]+@[^\s@"(),:;<>[\\\]\p{Cc}\p{Cf}]+$/u.test(text);
}
