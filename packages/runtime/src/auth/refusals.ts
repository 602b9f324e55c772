/** Refusals of sign-in: they come no earlier than a given time, so that their duration tells nothing, and the audit names them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, PlatformError } from '../errors.ts';
import type { Audit, AuditDetails, AuditEvent, AuditOrigin } from '../operate/audit.ts';

/** Runs the work and settles as it does, but not before `leastMs` milliseconds have passed. */
export async function stall<T>(leastMs: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + leastMs;
  try {
    return await work();
  } finally {
    await waitUntil(end);
  }
}

/** The same for work that fails; a success is not delayed. */
export async function stallFailure<T>(leastMs: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + leastMs;
  try {
    return await work();
  } catch (error) {
    await waitUntil(end);
    throw error;
  }
}

async function waitUntil(end: number): Promise<void> {
  const left = end - performance.now();
  if (left > 0) await sleep(left);
}

/** Events by the code of the error. Limits and addresses are told where they are checked. */
const events: Partial<Record<ErrorCode, AuditEvent>> = {
  INVALID_CREDENTIALS: 'sign-in-refused',
  INVALID_TOKEN: 'sign-in-refused',
  TOKEN_EXPIRED: 'sign-in-refused',
  FORBIDDEN: 'sign-in-refused',
  INVALID_OTP: 'second-factor-refused',
};

/** Runs a sign-in; a refusal gets its line. Without `hasOtp` none was sent: asking for one is no refusal. */
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
