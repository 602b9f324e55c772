import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

/** Seconds by which clocks may differ before tokens and one-time passwords are in danger. */
const clockLimit = 5;

/** Compares the clock of this machine with that of the database, which `sql` asks for its seconds since 1970. */
export async function compareClock({ run }: Source, sql: string): Promise<readonly Finding[]> {
  const start = Date.now();
  const [row] = await run(sql, []);
  const middle = (start + Date.now()) / 2000;
  const seconds = Math.round(Math.abs(Number(row?.[0]) - middle));
  if (!(seconds > clockLimit)) return [];
  const message = `The clocks of this machine and of the database differ by ${seconds} seconds.`;
  return [{ check: 'clock', severity: 'warning', message, advice: 'Let both follow a time server.' }];
}
