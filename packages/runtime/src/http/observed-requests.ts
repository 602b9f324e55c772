/** Identifiers and observers of the requests of one server, as its environment asks for them. */
import type { IncomingMessage } from 'node:http';
import { createNetworks, readAddress } from '../environment/networks.ts';
import type { Environment } from '../environment.ts';
import { createAccessLog } from '../operate/access-log.ts';
import { createLogAddress } from '../operate/client-address.ts';
import { logsInfo } from '../operate/log.ts';
import { logLines } from '../operate/log-lines.ts';
import { createRequestIds } from '../operate/request-id.ts';
import { beginRequests, type PassRequest, type RequestObserver } from '../operate/request-record.ts';

/** Makes the listener that begins every request and passes it on. `isFollowed` makes each known to what runs for it. */
export function observeRequests(
  environment: Environment,
  others: readonly RequestObserver[],
  pass: PassRequest,
  isFollowed = false,
): PassRequest {
  const { accessLog, slowQuery: slowMs } = environment.operate;
  const addressOf = createLogAddress(environment);
  const write = (line: string): void => logLines.gather(line);
  const observers =
    accessLog === 'off' || !logsInfo(environment)
      ? others
      : [...others, createAccessLog({ accessLog, slowMs, write, addressOf })];
  const readIds = createRequestIds(peerTest(environment.auth.trustedProxies));
  // Lines of the audit and of slow statements name the request that they belong to.
  return beginRequests(readIds, observers, isFollowed || environment.logLevel !== 'silent', pass);
}

/** Tells if a request comes from one of these proxies; null where there is none. */
function peerTest(proxies: readonly string[]): ((request: IncomingMessage) => boolean) | null {
  if (proxies.length === 0) return null;
  const trusted = createNetworks(proxies);
  return function isTrusted({ socket }) {
    const peer = readAddress(socket.remoteAddress ?? '');
    return peer !== null && trusted.has(peer);
  };
}
