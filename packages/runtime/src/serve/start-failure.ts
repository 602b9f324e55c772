/** Reasons why a server does not start, in words for people and as an exit code: for the command and for generated servers. */
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
  /** A port that may be free, and another one. */
  readonly examples: readonly [string, string];
}

const mainAddress: ListenAddress = {
  ...{ port: 'The port', address: 'The address', hostVariable: 'HOST' },
  examples: ['PORT=8055', 'PORT=8056'],
};
const metricsAddress: ListenAddress = {
  ...{ port: 'The port of the metrics', address: 'The address of the metrics', hostVariable: 'METRICS_HOST' },
  examples: ['METRICS_PORT=9464', 'METRICS_PORT=9465'],
};

/** Explains why an address cannot be listened on, by the code of Node; null for another reason. */
function addressFailure(code: unknown, names: ListenAddress): StartFailure | null {
  const [example, other] = names.examples;
  if (code === 'EADDRINUSE') {
    return { exitCode: 4, message: `${names.port} is in use.`, hint: `Choose another one with ${other}.` };
  }
  const message = `${names.address} cannot be used (${code}).`;
  if (code === 'EACCES') {
    return { exitCode: 4, message, hint: `Only root may listen on it: choose a port above 1023 with ${example}.` };
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
export function startFailure(error: unknown, url: string | null): StartFailure | null {
  if (error instanceof EnvironmentError || error instanceof TemplateError || error instanceof ContractError) {
    return { exitCode: 4, message: error.message, hint: null };
  }
  if (error instanceof RowSecurityError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof PoolingError) return { exitCode: 4, message: error.message, hint: error.hint };
  if (error instanceof MigrationError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof EmbeddedInUseError) return { exitCode: 3, message: error.message, hint: error.hint };
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const unusable = addressFailure(code, error instanceof MetricsAddressError ? metricsAddress : mainAddress);
  if (unusable !== null) return unusable;
  if (code !== 'SERVICE_UNAVAILABLE') return null;
  if (url !== null) return { exitCode: 3, ...unusableDatabase(databaseLabel(url), error) };
  // An embedded database has no address that could be wrong.
  return { exitCode: 3, message: unusableDatabase('the embedded database', error).message, hint: null };
}
