/** How the processes of a crowd are told what to do, and tell what came of it: one JSON text a line. */
import { createInterface } from 'node:readline';

/** Where requests go. */
export interface Orders {
  readonly url: string;
}

/** What users do. */
export interface UserOrders extends Orders {
  readonly users: readonly { readonly email: string; readonly password: string }[];
}

/** What attackers do. */
export interface AttackOrders extends Orders {
  /** Clients that ask for much and read nothing. */
  readonly slow: number;
  /** Clients that ask for as much as they are given, again and again. */
  readonly greedy: number;
}

/** One request of a crowd. */
export interface Visit {
  readonly kind: 'sign-in' | 'write' | 'read' | 'greedy' | 'slow';
  readonly status: number;
  readonly ms: number;
  /** Milliseconds since 1970, at its end. */
  readonly at: number;
}

/** Reads the orders of this process; `told` answers each line of the input with what happened since. */
export function onOrders<Kind extends Orders>(): Kind & { told(report: () => unknown): void } {
  const orders: Kind = JSON.parse(process.argv[2] ?? '{}');
  return {
    ...orders,
    told(report) {
      createInterface({ input: process.stdin })
        .on('line', () => process.stdout.write(`${JSON.stringify(report())}\n`))
        // Whoever has started it is gone.
        .on('close', () => process.exit(0));
    },
  };
}
