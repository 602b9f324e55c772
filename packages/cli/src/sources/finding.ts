import type { Schema } from '@tablewright/introspect/schema';
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

const privilegeOf = { create: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const;

/** Right to write on SQL databases. */
export type WritePrivilege = (typeof privilegeOf)[keyof typeof privilegeOf];

/** DELETE of a collection with soft delete is an update, unless rules let callers purge. */
function privilegesFor(
  action: keyof typeof privilegeOf,
  isArchived: boolean,
  purges: boolean,
): readonly WritePrivilege[] {
  if (action !== 'delete' || !isArchived) return [privilegeOf[action]];
  return purges ? ['UPDATE', 'DELETE'] : ['UPDATE'];
}

/** Rights to write that rules count on, and the server for its own tables. */
export function privilegesToWrite({ collections, tables, permissions }: Schema) {
  return collections.flatMap(({ name: collection, table: id, system, softDelete }) => {
    const table = tables.find((candidate) => candidate.id === id);
    const rules = permissions.filter((rule) => rule.collection === collection);
    const actions = (['create', 'update', 'delete'] as const).filter(
      (action) => system || rules.some((rule) => rule.action === action),
    );
    if (table === undefined || actions.length === 0) return [];
    const purges = rules.some(({ purge }) => purge === true);
    const required = actions.flatMap((action) => privilegesFor(action, softDelete !== undefined, purges));
    return [{ table, required: [...new Set(required)] }];
  });
}
