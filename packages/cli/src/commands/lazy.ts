/** The commands, each loaded when it is called: modules of all would take up most of the start time of one. */

export const can = lazy(async () => (await import('./can.ts')).can);
export const check = lazy(async () => (await import('./check.ts')).check);
export const createUser = lazy(async () => (await import('./users.ts')).createUser);
export const dev = lazy(async () => (await import('./dev.ts')).dev);
export const diff = lazy(async () => (await import('./diff.ts')).diff);
export const diffPermissions = lazy(async () => (await import('./permissions.ts')).diffPermissions);
export const doctor = lazy(async () => (await import('./doctor.ts')).doctor);
export const explain = lazy(async () => (await import('./explain.ts')).explain);
export const generate = lazy(async () => (await import('./generate.ts')).generate);
export const graphql = lazy(async () => (await import('./document.ts')).graphql);
export const init = lazy(async () => (await import('./init.ts')).init);
export const introspect = lazy(async () => (await import('./schema.ts')).introspect);
export const listUsers = lazy(async () => (await import('./users.ts')).listUsers);
export const migrate = lazy(async () => (await import('./migrate.ts')).migrate);
export const openapi = lazy(async () => (await import('./document.ts')).openapi);
export const permissionsMatrix = lazy(async () => (await import('./permissions.ts')).permissionsMatrix);
export const pullPermissions = lazy(async () => (await import('./permissions.ts')).pullPermissions);
export const pullSchema = lazy(async () => (await import('./schema.ts')).pullSchema);
export const pushPermissions = lazy(async () => (await import('./permissions.ts')).pushPermissions);
export const ready = lazy(async () => (await import('./ready.ts')).ready);
export const roles = lazy(async () => (await import('./users.ts')).roles);
export const setPassword = lazy(async () => (await import('./users.ts')).setPassword);
export const setToken = lazy(async () => (await import('./users.ts')).setToken);
export const start = lazy(async () => (await import('./start.ts')).start);

type Command<Args extends readonly unknown[]> = (...args: Args) => void | Promise<void>;

function lazy<Args extends readonly unknown[]>(load: () => Promise<Command<Args>>): Command<Args> {
  return async (...args) => (await load())(...args);
}
