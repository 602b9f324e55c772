/** Many clients of a server in processes of their own, so that how busy they are is not taken for how slow the server is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttackOrders, UserOrders, Visit } from './crowd/orders.ts';

export type { Visit };

/** A crowd under way. */
export interface Crowd {
  /** What was asked since the last call. */
  visits(): Promise<readonly Visit[]>;
  stop(): Promise<void>;
}

/** Users as an application has them. */
export function startUsers(orders: UserOrders): Promise<Crowd> {
  return startCrowd('users.ts', orders);
}

/** Clients that do not read, and clients that ask for too much. */
export function startAttackers(orders: AttackOrders): Promise<Crowd> {
  return startCrowd('attackers.ts', orders);
}

async function startCrowd(script: string, orders: object): Promise<Crowd> {
  const path = fileURLToPath(new URL(`crowd/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, JSON.stringify(orders)], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  return {
    async visits() {
      const line = once(lines, 'line');
      child.stdin.write('\n');
      const [text] = await line;
      return JSON.parse(String(text));
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}
