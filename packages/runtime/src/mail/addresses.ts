/** E-mail addresses as texts. Source: API specification, section 3.2. */

/** As long as the field that holds one. */
const longest = 128;

/**
 * One address of a local part and a domain, as mail servers take it without quoting: so no spaces, no control characters,
 * and nothing that separates addresses in a header. Letters may be of any script.
 */
const form =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}])?$/u;

/** Tells whether a text is an e-mail address that a user can have. */
export function isEmail(text: string): boolean {
  return [...text].length <= longest && form.test(text) && !text.includes('..');
}
