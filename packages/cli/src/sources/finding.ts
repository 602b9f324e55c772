import type { Source } from './source.ts';

/** Something that `platform doctor` looked at. */
export interface Finding {
  /** Stable, lower case with dashes: `missing-index`. */
  readonly check: string;
  /** `problem`: something does not work, or is not safe. `warning`: it will hurt. `note`: worth knowing. */
  readonly severity: 'problem' | 'warning' | 'note';
  /** Description of the fact, as a whole sentence. */
  readonly message: string;
  /** Advice, as a whole sentence. */
  readonly advice: string;
}

/** One question to the database. */
export type Examination = (source: Source) => Promise<readonly Finding[]>;

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
