import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { DatabasePlace } from '../dialects/open.ts';
import { EnvironmentError } from '../environment/error.ts';
import { keptSecret } from '../environment/kept-secret.ts';
import { secretAdvice } from '../environment/values.ts';
import type { Environment } from '../environment.ts';
import type { CompiledApi } from '../language/index.ts';
import { systemSchemaOf } from '../system/schema.ts';

/**
 * An environment with a secret where there are users. It is the one that was set, or that of an embedded database,
 * which is made once and kept beside it. Rejects with `EnvironmentError` when a server of several processes would need
 * one.
 */
export async function withSecret(
  api: Pick<CompiledApi, 'collections' | 'caching'>,
  environment: Environment,
  location: DatabasePlace,
): Promise<Environment> {
  const purges = api.caching !== undefined && environment.cache.purgeUrls.length > 0;
  if (environment.auth.secret !== null || (systemSchemaOf(api) === null && !purges)) return environment;
  if (!('embedded' in location)) {
    const reason = purges ? 'with CACHE_PURGE_URL' : 'where there are users';
    const message = `SECRET is required ${reason}, the same for every process: ${secretAdvice}`;
    throw new EnvironmentError([{ variable: 'SECRET', message }]);
  }
  const { embedded } = location;
  // A database in memory, or of another process, has no folder; its sessions end with this process.
  const isFolder = typeof embedded === 'string' && !embedded.includes('://');
  const secret = isFolder ? await keptSecret(dirname(embedded)) : randomBytes(32).toString('base64url');
  return { ...environment, auth: { ...environment.auth, secret } };
}
