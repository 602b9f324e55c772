/** Columns of an account, of the tables `u` (users) and `r` (roles, which may be missing), as `readAccount` reads them. All are texts. */
export const postgresAccountColumns = `u.id::text, u.email::text, u.status::text, u.provider::text, u.security_version::text,
  (u.tfa_secret IS NOT NULL)::text, r.id::text, r.name::text, r.admin_access::text, r.app_access::text,
  r.enforce_tfa::text, r.ip_access::text`;
