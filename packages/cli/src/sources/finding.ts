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
