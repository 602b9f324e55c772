import type { MigrationTexts } from '../../../../system/migration.ts';

/** Tables for signing in; none of them is a collection. Tokens and codes are stored as SHA-256 only. */
export const sessions: MigrationTexts = {
  up: `
-- A family of refresh tokens. Ending a session deletes its row.
CREATE TABLE platform_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  "user" uuid NOT NULL REFERENCES platform_users ON DELETE CASCADE,
  security_version integer NOT NULL,
  ip varchar(50),
  user_agent varchar(255),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX platform_sessions_user_idx ON platform_sessions ("user");
CREATE INDEX platform_sessions_expires_at_idx ON platform_sessions (expires_at);

-- Tokens that were used stay as long as their session, so that a second use is noticed.
CREATE TABLE platform_refresh_tokens (
  hash bytea PRIMARY KEY,
  session uuid NOT NULL REFERENCES platform_sessions ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  rotated_at timestamptz
);
CREATE INDEX platform_refresh_tokens_session_idx ON platform_refresh_tokens (session);

-- Second factors: the secret that was generated and waits to be confirmed, and the last time step that was accepted.
CREATE TABLE platform_tfa (
  "user" uuid PRIMARY KEY REFERENCES platform_users ON DELETE CASCADE,
  pending_hash bytea,
  pending_until timestamptz,
  last_step bigint,
  CHECK ((pending_hash IS NULL) = (pending_until IS NULL))
);

CREATE TABLE platform_recovery_codes (
  "user" uuid NOT NULL REFERENCES platform_users ON DELETE CASCADE,
  hash bytea NOT NULL,
  used_at timestamptz,
  PRIMARY KEY ("user", hash)
);

-- Invites, password resets and states of single sign-on.
CREATE TABLE platform_single_use_tokens (
  hash bytea PRIMARY KEY,
  purpose varchar(32) NOT NULL CHECK (purpose IN ('invite', 'password_reset', 'oauth_state')),
  "user" uuid REFERENCES platform_users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX platform_single_use_tokens_user_idx ON platform_single_use_tokens ("user");
CREATE INDEX platform_single_use_tokens_expires_at_idx ON platform_single_use_tokens (expires_at);

-- Counters of failed attempts, in windows. What is counted stands hashed: an account, an address, or one on the other.
CREATE TABLE platform_auth_attempts (
  purpose varchar(32) NOT NULL,
  subject bytea NOT NULL,
  attempts integer NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (purpose, subject)
);
CREATE INDEX platform_auth_attempts_expires_at_idx ON platform_auth_attempts (expires_at);
`,
  down: `
DROP TABLE platform_auth_attempts;
DROP TABLE platform_single_use_tokens;
DROP TABLE platform_recovery_codes;
DROP TABLE platform_tfa;
DROP TABLE platform_refresh_tokens;
DROP TABLE platform_sessions;
`,
};
