/**
 * Ending a running statement from outside, by a connection that carries nothing but the request to do so.
 *
 * Source: PostgreSQL documentation, "Frontend/Backend Protocol", "Canceling Requests in Progress".
 */
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type pg from 'pg';

/** Key from the server by which another connection can end the statements of this one. */
export interface BackendKey {
  readonly processId: number;
  readonly secret: number;
}

const cancelCode = 80_877_102;
const tlsCode = 80_877_103;
const timeoutMs = 2_000;

/** Sends the request to where `client` is connected, with TLS when it uses TLS. Never rejects: it is a courtesy. */
export async function cancelBackend(client: pg.Client, key: BackendKey | undefined): Promise<void> {
  if (key === undefined) return;
  const { host, port } = client;
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(timeoutMs, () => socket.destroy());
  // After any error the connection that runs the statement is dropped next.
  socket.on('error', () => {});
  try {
    await once(socket, 'connect');
    const secured = client.ssl ? await secure(socket, host, client.ssl) : socket;
    secured.on('error', () => {});
    // Not `end`: a pooler that hears its client leave before it has passed the request on drops it.
    secured.write(cancelRequest(key));
    secured.resume();
    await once(secured, 'close');
  } catch {
    socket.destroy();
  }
}

function cancelRequest(key: BackendKey): Buffer {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelCode, 4);
  message.writeInt32BE(key.processId, 8);
  message.writeInt32BE(key.secret, 12);
  return message;
}

/** `ssl` holds the options of `pg`, which are those of node:tls. */
async function secure(socket: Socket, host: string, ssl: unknown): Promise<Socket> {
  const message = Buffer.alloc(8);
  message.writeInt32BE(8, 0);
  message.writeInt32BE(tlsCode, 4);
  socket.write(message);
  const [result] = await once(socket, 'data');
  if (String(result) !== 'S') throw new Error('The server does not offer TLS.');
  const options = typeof ssl === 'object' && ssl !== null ? ssl : {};
  const secured = connectTls({ ...options, socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
  await once(secured, 'secureConnect');
  return secured;
}
