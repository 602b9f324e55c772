/** State and descriptions of the server. Source: API specification, section 13. */
import type { Database } from '../../database/database.ts';
import type { HostReport } from '../../database/host-state.ts';
import type { Environment } from '../../environment.ts';
import type { CompiledApi } from '../../language/index.ts';
import type { serverResource } from '../../language/operations/index.ts';
import { systemPlaceOf } from '../../system/place.ts';
import { createHealth, readinessOf, type WatchedSchema, worst } from '../health.ts';
import { createDocuments, createProjectReader, serverInformation } from '../information.ts';
import type { Implementations } from './bind.ts';

/** Parts of a server that its state is read from. */
export interface ServerOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  readonly watch: WatchedSchema;
  readonly hostState: () => Promise<HostReport>;
  /** True if the server was told to stop. */
  readonly draining: () => boolean;
}

/** State and descriptions of the server. */
export function serverOperations(options: ServerOptions): Implementations<typeof serverResource> {
  const { api, database, environment, draining } = options;
  const { readOnly, poolTimeout: timeoutMs } = environment.database;
  const health = createHealth({ ...options, timeoutMs, readOnly });
  const document = createDocuments(api);
  const readProject = createProjectReader(database, systemPlaceOf(api));
  return {
    serverPing: async () => ({ value: 'pong' }),
    async serverHealth(_, { administrator }) {
      const { status, checks, isUnavailable } = await health();
      // Waiting requests concern administrators only: all others are served.
      const value = administrator ? { status: worst(status, checks.connections.status), checks } : { status };
      return { value, isUnavailable };
    },
    async serverReady({ role }, { administrator }) {
      const report = await health();
      const status = readinessOf(report, role, draining());
      const { checks } = report;
      return { value: administrator ? { status, checks } : { status }, isUnavailable: status !== 'ok' };
    },
    serverInfo: async (_, { administrator }) => ({
      value: serverInformation(await readProject(), administrator, environment.requestLimits.client),
    }),
    serverSpecsOas: async (_, { caller }) => ({ value: await document(caller.accessClass) }),
  };
}
