/** One-time passwords by time: RFC 6238 by `otplib`. Source: API specification, section 3.4. */
import { randomBytes } from 'node:crypto';

const period = 30;
const digits = 6;
/** 160 bits. */
const secretBytes = 20;

/** Makes a secret: 32 characters of base32. */
export async function makeOtpSecret(): Promise<string> {
  const { generateSecret } = await import('otplib');
  return generateSecret({ length: secretBytes });
}

/** The step of 30 seconds that a one-time password belongs to: now, the one before or the one after; null for any other. */
export async function stepOf(secret: string, otp: string, now: number = Date.now()): Promise<number | null> {
  if (!/^[0-9]{6}$/.test(otp)) return null;
  const { verifySync } = await import('otplib');
  const epoch = Math.floor(now / 1000);
  const result = verifySync({ secret, token: otp, epoch, period, digits, algorithm: 'sha1', epochTolerance: period });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** URL that authenticator apps read as a QR code. */
export function otpauthUrl(project: string, email: string, secret: string): string {
  const [issuer, account] = [encodeURIComponent(project), encodeURIComponent(email)];
  const settings = `period=${period}&digits=${digits}&algorithm=SHA1`;
  return `otpauth://totp/${issuer}:${account}?secret=${secret}&${settings}&issuer=${issuer}`;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Makes a code for the day when the authenticator is lost: four groups of four letters, 80 bits. */
export function makeRecoveryCode(): string {
  const letters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return letters.replace(/.{4}(?=.)/g, '$&-');
}

/**
 * Returns a recovery code in its original form; null for any other text. Case and characters between the groups do not
 * matter.
 */
export function readRecoveryCode(text: string): string | null {
  if (text.length > 64) return null;
  const letters = text.toLowerCase().replace(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(letters) ? letters.replace(/.{4}(?=.)/g, '$&-') : null;
}
