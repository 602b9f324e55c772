/** The platform's own tables as the commands use them: installing, checking, and reporting problems. */
import type { Diagnostic } from '@tablewright/introspect';
import { defaultSystemSchema, dialectFacts, ownSchema } from '@tablewright/runtime/language';
import {
  type Migration,
  MigrationError,
  type MigrationState,
  migrate,
  readMigrations,
  type SystemPlace,
} from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import type { Progress } from '../terminal/progress.ts';
import { quotedName, type Source } from './source.ts';

function systemSchema({ config }: Project): { readonly schema?: string } {
  const schema = config.database?.systemSchema;
  return schema === undefined ? {} : { schema };
}

/** The place of the tables of a project, as statements are written for it. */
export function systemPlace({ dialect }: Source, { config }: Project): SystemPlace {
  const named = config.database?.systemSchema;
  const { hasSchemas } = dialectFacts[dialect];
  if (!hasSchemas && (named ?? ownSchema) === ownSchema) return { schema: '', dialect };
  return { schema: quotedName(dialect, named ?? defaultSystemSchema), dialect };
}

/** Applies the migrations that the database lacks, as a phase of its own. Rejects with advice on failure. */
export function installSystem(source: Source, project: Project, progress: Progress): Promise<readonly Migration[]> {
  return progress.phase('migrate', async (detail) => {
    const connection = { query: source.run, script: source.script, family: source.family };
    const onDone = ({ id, name }: Migration): void => {
      progress.event('migration', { id, name, action: 'applied' });
      detail(`${id} ${name}`);
    };
    return migrate(connection, { ...systemSchema(project), onDone }).catch(explainMigration);
  });
}

/** Reads the migrations of the database. Rejects with advice if they do not belong to this version. */
export function systemState(source: Source, project: Project): Promise<MigrationState> {
  return readMigrations({ query: source.run, family: source.family }, systemSchema(project)).catch(explainMigration);
}

const refused: ReadonlySet<string> = new Set(['forbidden', 'readOnly', 'locked']);

/** Throws errors of migrations as errors of the command; all others as they are. */
function explainMigration(error: unknown): never {
  if (!(error instanceof MigrationError)) throw error;
  const code = refused.has(error.problem) ? exitCodes.database : exitCodes.invalid;
  throw new CommandError(code, error.message, error.hint);
}

/** Diagnostics of the platform's own tables beside others; none if not installed, or the ledger is not readable. */
export async function systemDiagnostics(source: Source, project: Project): Promise<readonly Diagnostic[]> {
  const check = 'database';
  try {
    const { installed, pending } = await readMigrations(
      { query: source.run, family: source.family },
      systemSchema(project),
    );
    if (!installed || pending.length === 0) return [];
    const names = pending.map(({ id, name }) => `${id} "${name}"`).join(', ');
    const message = `The tables of the platform are older than this version; they lack ${names}.`;
    return [
      { code: 'system-tables-behind', severity: 'warning', place: check, message, hint: 'Run `platform migrate`.' },
    ];
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    if (error.problem === 'forbidden') return [];
    return [{ code: 'system-tables', severity: 'error', place: check, message: error.message, hint: error.hint }];
  }
}
