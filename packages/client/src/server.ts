/** The server and its utilities. */
import type { OperationMethods } from './operations.ts';

/** The server itself; `health` resolves for an unhealthy server too. */
export type ServerHandler = OperationMethods['server'];

/** Health of a server. */
export type Health = Awaited<ReturnType<ServerHandler['health']>>;

/** Utilities. */
export type UtilsHandler = OperationMethods['utils'];
