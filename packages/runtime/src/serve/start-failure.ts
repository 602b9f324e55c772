/** Reasons why a server does not start, in words for people and as an exit code: for the command and for generated servers. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { PoolingError, RowSecurityError } from '../database/errors.ts';
import { EmbeddedInUseError } from '../dialects/embedded-lock.ts';
import { databaseLabel, unusableDatabase } from '../dialects/unusable.ts';
import { EnvironmentError } from '../environment/values.ts';
import { ContractError } from '../errors.ts';
import { MigrationError } from '../system/ledger.ts';
import { TemplateError } from '../template-files.ts';
import { MetricsAddressError } from './metrics-listener.ts';

/** A failure that is no bug. */
export interface StartFailure {
  /** Exit code of the process: 1 for tables that do not fit, 3 for the database, 4 for everything else. */
  readonly exitCode: 1 | 3 | 4;
  readonly message: string;
  readonly hint: string | null;
}

/** An address to listen on, as messages and variables name it. */
interface ListenAddress {
  readonly port: string;
  readonly address: string;
  readonly hostVariable: string;
  readonly portVariable: string;
  /** A port that needs no rights. */
  readonly usual: number;
}

const mainAddress: ListenAddress = {
  ...{ port: 'The port', address: 'The address', hostVariable: 'HOST' },
  ...{ portVariable: 'PORT', usual: 8055 },
};
const metricsAddress: ListenAddress = {
  ...{ port: 'The port of the metrics', address: 'The address of the metrics', hostVariable: 'METRICS_HOST' },
  ...{ portVariable: 'METRICS_PORT', usual: 9464 },
};

/** Ports after one in use that are tried for the hint. */
const triedPorts = 20;

/** The next port that nothing listens on; null if there is none near, or the port in use is not known. */
async function findFreePort(busy: unknown): Promise<number | null> {
  if (!(busy instanceof Error && 'port' in busy && typeof busy.port === 'number')) return null;
  const { port } = busy;
  const address = 'address' in busy && typeof busy.address === 'string' ? busy.address : undefined;
  const configured = [process.env['PORT'], process.env['METRICS_PORT']].map(Number);
  for (let next = port + 1; next <= Math.min(port + triedPorts, 65_535); next += 1) {
    if (!configured.includes(next) && (await isFree(next, address))) return next;
  }
  return null;
}

async function isFree(port: number, host: string | undefined): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** Explains why an address cannot be listened on, by the code of Node; null for another reason. */
async function addressFailure(code: unknown, error: unknown): Promise<StartFailure | null> {
  const names = error instanceof MetricsAddressError ? metricsAddress : mainAddress;
  if (code === 'EADDRINUSE') {
    const free = await findFreePort(error instanceof MetricsAddressError ? error.cause : error);
    const hint =
      free === null
        ? `Choose another one with ${names.portVariable}.`
        : `Choose another one, such as ${names.portVariable}=${free}.`;
    const { PORT: port = String(mainAddress.usual), METRICS_PORT: metricsPort } = process.env;
    const message = port === metricsPort ? 'PORT and METRICS_PORT are the same port.' : `${names.port} is in use.`;
    return { exitCode: 4, message, hint };
  }
  const message = `${names.address} cannot be used (${code}).`;
  if (code === 'EACCES') {
    return {
      exitCode: 4,
      message,
      hint: `Only root may listen on it: choose a port above 1023, such as ${names.portVariable}=${names.usual}.`,
    };
  }
  if (code !== 'EADDRNOTAVAIL' && code !== 'ENOTFOUND' && code !== 'EAI_AGAIN') return null;
  const variable = names.hostVariable;
  return {
    exitCode: 4,
    message,
    hint: `Set ${variable} to an address of this machine, such as ${variable}=127.0.0.1.`,
  };
}

/** Explains why a server did not start; null for a bug. `url` is that of its database, null for an embedded one. */
export async function startFailure(error: unknown, url: string | null): Promise<StartFailure | null> {
  if (error instanceof EnvironmentError || error instanceof TemplateError || error instanceof ContractError) {
    return { exitCode: 4, message: error.message, hint: null };
  }
  if (error instanceof RowSecurityError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof PoolingError) return { exitCode: 4, message: error.message, hint: error.hint };
  if (error instanceof MigrationError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof EmbeddedInUseError) return { exitCode: 3, message: error.message, hint: error.hint };
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const unusable = await addressFailure(code, error);
  if (unusable !== null) return unusable;
  if (code !== 'SERVICE_UNAVAILABLE') return null;
  if (url !== null) return { exitCode: 3, ...unusableDatabase(databaseLabel(url), error) };
  // An embedded database has no address that could be wrong.
  return { exitCode: 3, message: unusableDatabase('the embedded database', error).message, hint: null };
}
