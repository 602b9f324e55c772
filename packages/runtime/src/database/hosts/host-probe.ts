/** One server of several, as it is when it is asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RenewableUrl } from '../../environment/renewable-url.ts';
import { type HostReport, silenceMs, stateOfError } from '../host-state.ts';

/** State of a server, and what tells it from others. */
export interface HostFacts extends HostReport {
  /** Identifier of the cluster of data; replicas have that of their primary. Absent where servers have none. */
  readonly system?: string;
  /** Number of the history that it writes or follows: each promotion begins a higher one. Absent where servers count none. */
  readonly timeline?: number;
  /** Identifier of the running server itself, which may have several names. */
  readonly instance?: string;
  /** Set where several servers of the cluster take writes. */
  readonly isMulti?: true;
  /** Why it is away or joining. */
  readonly error?: unknown;
  /** How far it has come in the log of changes. */
  readonly position?: string;
  /** Statements that ask for that after a COMMIT, and of a replica; absent where those of the dialect do. */
  readonly positionSql?: { readonly written: string; readonly reached: string };
}

/** Asks one server over a connection of its own. */
export interface HostProbe {
  /** Connects if it has to. Rejects when there is no answer. */
  ask(): Promise<HostFacts>;
  /** Resolves once it has all that others had written before. Absent where one that takes writes always has. */
  catchUp?(): Promise<void>;
  /** Drops the connection, so that the next question resolves the name anew. */
  reset(): void;
}

/** Makes the probe of a server. */
export type CreateProbe = (address: RenewableUrl) => Promise<HostProbe>;

/** Asks a server. Never rejects: one that does not answer in time is away. */
export function askProbe(server: HostProbe): Promise<HostFacts> {
  return inTime(server, () => server.ask());
}

/** False if a server does not come to have all that others had written before. */
export async function hasCaughtUp(server: HostProbe | undefined): Promise<boolean> {
  if (server?.catchUp === undefined) return true;
  const { state } = await inTime(server, async () => {
    await server.catchUp?.();
    return { state: 'primary' };
  });
  return state === 'primary';
}

async function inTime(server: HostProbe, ask: () => Promise<HostFacts>): Promise<HostFacts> {
  const late = new AbortController();
  let isLate = false;
  const silence = sleep(silenceMs, undefined, { signal: late.signal }).then(
    () => {
      isLate = true;
      server.reset();
      return { state: 'away' } as const;
    },
    () => ({ state: 'away' }) as const,
  );
  const requested = ask().catch((error: unknown): HostFacts => {
    if (!isLate) server.reset();
    return { state: stateOfError(error), error };
  });
  try {
    return await Promise.race([requested, silence]);
  } finally {
    late.abort();
  }
}
