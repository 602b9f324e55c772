/** The form of static tokens. Source: API specification, section 2.2. */
import { isJwtShaped } from '../../environment/token.ts';

/** Message for an invalid token and also for one that another user has, so that a guess reveals nothing. */
export const staticTokenRule = 'must be a static token: 16 to 255 visible ASCII characters that no other user has';

const form = /^[\x21-\x7e]{16,255}$/;

/** Texts that programs send in place of a missing token. */
const placeholder = /^(?:null|undefined|none|nil|nan|true|false|object|[[\](){}"',;:._-])+$/i;

/** True if a text can be the static token of a user. Others are not looked up, so those of earlier versions end. */
export function isStaticToken(text: string): boolean {
  return form.test(text) && !placeholder.test(text) && !isJwtShaped(text);
}
