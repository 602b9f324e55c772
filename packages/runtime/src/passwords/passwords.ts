/** Hashing and verifying passwords, a few at once. Source: API specification, section 3.2. */
import { availableParallelism } from 'node:os';
import { encodeArgon2, encodedDecoy, isOutdatedArgon2, matchesArgon2 } from './argon2.ts';
import { longestPassword } from './password-policy.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Hashes and verifies. Both reject with SERVICE_UNAVAILABLE when too many wait for a processor. */
export interface Passwords {
  /** Hashes the exact bytes of a password. */
  hash(password: string): Promise<string>;
  /**
   * True if a password is the one that was hashed. Null (an account without a password, or none at all) takes as long
   * and returns false. So does a text that is too long to be a password.
   */
  verify(encoded: string | null, password: string): Promise<boolean>;
  /** True if a hash was made with weaker parameters than a new one, so that a sign-in should replace it. */
  isOutdated(encoded: string): boolean;
}

/** How the work is bounded. */
export interface PasswordsOptions {
  /** Turns of the process when absent: its threads are shared by all. */
  readonly queue?: WorkQueue;
}

/**
 * One thread less than there are processors, so that requests go on beside it. It never takes all four threads that
 * files and names of hosts need, too. Those who wait would wait for some seconds at most.
 */
const ofProcess = createWorkQueue({ atOnce: Math.min(3, Math.max(1, availableParallelism() - 1)), waiting: 64 });

/** Makes them. */
export function createPasswords({ queue = ofProcess }: PasswordsOptions = {}): Passwords {
  const decoyHash = encodedDecoy();
  return {
    hash: (password) => queue.acquire(() => encodeArgon2(Buffer.from(password))),
    async verify(encoded, password) {
      const bytes = Buffer.from(password);
      const possible = encoded !== null && bytes.length <= longestPassword;
      const matches = await queue.acquire(() =>
        matchesArgon2(possible ? encoded : decoyHash, bytes.subarray(0, longestPassword)),
      );
      return possible && matches;
    },
    isOutdated: isOutdatedArgon2,
  };
}
