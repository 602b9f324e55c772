import type { Accounts } from '../auth/accounts.ts';
import type { HostWatch } from '../database/host-state.ts';
import type { Environment } from '../environment.ts';
import { createRequestLimiter } from '../limits/request-limiter.ts';
import { createAudit, requestLimitReached } from '../operate/audit.ts';
import { Broadcast } from '../operate/broadcast.ts';
import { createClientAddress } from '../operate/client-address.ts';
import type { AuthenticatedUser } from './auth/authenticate.ts';
import type { Listener } from './fastify-adapter.ts';
import type { ServerProcess } from './server.ts';

/** State that generations share, with the functions of its owner. */
export interface HostParts extends ServerProcess {
  /** The front listens: tasks that wait for that are run now, and later ones at once. */
  listening(): void;
  /** The process was told to stop. */
  drain(): void;
}

/** Makes what all generations of a process share. */
export function createHost(
  httpListener: Listener,
  { address }: Pick<ServerProcess, 'address'>,
  environment: Environment,
  { state }: Pick<HostWatch, 'state'>,
): HostParts {
  const { log } = httpListener.server;
  const clientAddress = createClientAddress(environment.auth.trustedProxies);
  const audit = createAudit(environment, () => log);
  const accounts = new Set<Accounts<AuthenticatedUser>>();
  const { redis } = environment.requestLimits;
  const broadcast = redis === null ? null : new Broadcast(redis, log);
  broadcast?.subscribe('users', (user) => {
    for (const { identities } of accounts) user === '' ? identities.forgetAll() : identities.forget(user);
  });
  const waiting: (() => Promise<void>)[] = [];
  let listens = false;
  let drains = false;
  return {
    ...httpListener,
    address,
    audit,
    limiter: createRequestLimiter(environment.requestLimits, clientAddress, log, requestLimitReached(audit)),
    accounts,
    broadcast,
    afterListening(task) {
      if (listens) void task();
      else waiting.push(task);
    },
    draining: () => drains,
    hostState: state,
    drain() {
      drains = true;
    },
    listening() {
      listens = true;
      for (const task of waiting.splice(0)) void task();
    },
  };
}
