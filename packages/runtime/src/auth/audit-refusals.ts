/** Events of the audit for refusals of signing in. */
import { type ErrorCode, PlatformError } from '../errors.ts';
import type { Audit, AuditDetails, AuditEvent, AuditOrigin } from '../operate/audit.ts';

/** Events by the code of the error. Limits and addresses are told where they are checked. */
const events: Partial<Record<ErrorCode, AuditEvent>> = {
  INVALID_CREDENTIALS: 'sign-in-refused',
  INVALID_TOKEN: 'sign-in-refused',
  TOKEN_EXPIRED: 'sign-in-refused',
  FORBIDDEN: 'sign-in-refused',
  INVALID_OTP: 'second-factor-refused',
};

/**
 * Runs a sign-in; a refusal gets its line. Without `hasOtp` none was sent, so that asking for one is no refusal.
 */
export async function auditRefusal<T>(
  audit: Audit,
  origin: AuditOrigin,
  details: AuditDetails,
  work: () => Promise<T>,
  hasOtp = true,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof PlatformError ? error.code : undefined;
    const event = code === undefined || (code === 'INVALID_OTP' && !hasOtp) ? undefined : events[code];
    if (event !== undefined) audit(event, origin, { ...details, reason: code });
    throw error;
  }
}
