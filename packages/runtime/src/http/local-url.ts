import type { AddressInfo } from 'node:net';

/** The address as configured, so that the printed one is the one people know; the port is the real one. */
export function localUrl(host: string, address: AddressInfo | string | null): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return address === null || typeof address === 'string' ? `http://${named}` : `http://${named}:${address.port}`;
}
