/** State and descriptions of the server. Source: API specification, section 13. */

import type { Database } from '../../database/database.ts';
import type { HostReport } from '../../database/host-state.ts';
import { ownTables } from '../../dialects/index.ts';
import type { RequestLimit } from '../../environment/requests.ts';
import type { Environment } from '../../environment.ts';
import type { CompiledApi } from '../../language/index.ts';
import type { OutputOf, serverResource } from '../../language/operations/index.ts';
import { isObject } from '../../language/types/decoding.ts';
import { readOnce } from '../../language/values/once.ts';
import { type SystemPlace, systemPlaceOf } from '../../system/place.ts';
import { platformVersion, productName } from '../../version.ts';
import { createHealth, readinessOf, type WatchedSchema, worst } from '../health.ts';
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

export function serverOperations(options: ServerOptions): Implementations<typeof serverResource> {
  const { api, database, environment, draining } = options;
  const { readOnly, poolTimeout: timeoutMs } = environment.database;
  const health = createHealth({ ...options, timeoutMs, readOnly });
  const document = createDocuments(api, environment.publicUrl);
  const readProject = createProjectReader(database, systemPlaceOf(api));
  return {
    serverPing: async () => ({ value: 'pong' }),
    async serverHealth(_, { administrator }) {
      const { status, checks, isUnavailable } = await health();
      // Waiting requests and a full disk concern administrators only: all others are served.
      const all = worst(status, checks.database.status, checks.connections.status);
      const value = administrator ? { status: all, checks } : { status };
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

type ProjectInformation = Readonly<Record<string, string | null>>;

/** The project until settings are written. */
const unwritten: ProjectInformation = {
  project_name: productName,
  project_descriptor: null,
  project_logo: null,
  project_color: null,
  default_language: 'en-US',
  public_foreground: null,
  public_background: null,
  public_note: null,
  custom_css: null,
};

/** Makes the reader of the project's settings; `place` is null where the platform's own tables are not installed. */
function createProjectReader(
  database: Pick<Database, 'query'>,
  systemPlace: SystemPlace | null,
): () => Promise<ProjectInformation> {
  if (systemPlace === null) return async () => unwritten;
  const names = Object.keys(unwritten);
  const { table, text: textOf } = ownTables(systemPlace);
  const text = `SELECT ${names.map(textOf).join(', ')} FROM ${table('platform_settings')}`;
  return async function readProject() {
    const [row] = await database.query(text, []);
    return row === undefined ? unwritten : Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));
  };
}

/** Answer of `GET /server/info`. Versions and `rateLimit` (requests in milliseconds) are for administrators only. */
function serverInformation(
  project: ProjectInformation,
  administrator: boolean,
  limit: RequestLimit | null,
): OutputOf<typeof serverResource.operations.serverInfo> {
  if (!administrator) return { project };
  return {
    project,
    platform: { version: platformVersion() },
    node: { version: process.versions.node },
    rateLimit: limit === null ? false : { points: limit.points, duration: limit.duration },
  };
}

/** Makes the reader of OpenAPI documents, each printed once per access class, with `publicUrl` as the server. */
function createDocuments(api: CompiledApi, publicUrl: string | null): (accessClass: string) => Promise<Buffer> {
  return readOnce(async (accessClass) => {
    const value = await api.openapi(accessClass);
    const isAsCompiled = publicUrl === null || !isObject(value);
    return Buffer.from(JSON.stringify(isAsCompiled ? value : { ...value, servers: [{ url: publicUrl }] }));
  });
}
