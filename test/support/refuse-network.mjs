// Loaded into every process of a command (`NODE_OPTIONS=--import`): names and machines other than this one are refused, and
// written to the file that NETWORK_ATTEMPTS names. Plain JavaScript, so that every thread of every process takes it.
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';

const isHere = (host) =>
  host === undefined || host === null || host === 'localhost' || /^(?:127\.|::1$|::$|0\.0\.0\.0$)/.test(host);

function refuse(attempt, host) {
  appendFileSync(process.env.NETWORK_ATTEMPTS, `${attempt} ${host}\n`);
  return Object.assign(new Error(`${attempt} ${host} is refused`), { code: 'ENETUNREACH' });
}

const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const isPath = typeof first === 'string' && Number.isNaN(Number(first));
  const host =
    typeof first === 'object' ? first.host : isPath ? undefined : typeof second === 'string' ? second : undefined;
  if (isHere(host)) return connect.apply(this, args);
  return this.destroy(refuse('connect', host));
};

for (const [owner, isPromise] of [
  [dns, false],
  [dns.promises, true],
  [dns.Resolver.prototype, false],
  [dns.promises.Resolver.prototype, true],
]) {
  for (const name of [
    'lookup',
    'resolve',
    'resolve4',
    'resolve6',
    'resolveSrv',
    'resolveTxt',
    'resolveMx',
    'reverse',
  ]) {
    const original = owner[name];
    if (typeof original !== 'function') continue;
    owner[name] = function (host, ...rest) {
      if (isHere(host) || (name === 'lookup' && isIP(host) !== 0)) return original.call(this, host, ...rest);
      const error = refuse(name, host);
      if (isPromise) return Promise.reject(error);
      process.nextTick(rest.at(-1), error);
    };
  }
}
syncBuiltinESMExports();
