/** Columns of an account, of the tables `u` (users) and `r` (roles, which may be missing), as `readAccount` reads them. */
export const mysqlAccountColumns = `CAST(u.id AS CHAR), u.email, u.status, u.provider, CAST(u.security_version AS CHAR),
  IF(u.tfa_secret IS NOT NULL, 'true', 'false'), CAST(r.id AS CHAR), r.name, ELT(r.admin_access + 1, 'false', 'true'),
  ELT(r.app_access + 1, 'false', 'true'), ELT(r.enforce_tfa + 1, 'false', 'true'), r.ip_access`;
