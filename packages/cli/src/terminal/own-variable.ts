import { variableText } from '@tablewright/runtime/variables';
import { CommandError, exitCodes } from '../errors/failures.ts';

/** The text of a variable of this process, or of the file that `<name>_FILE` names; null where neither is set. */
export function ownVariable(name: string): string | null {
  const reading = variableText(process.env, name);
  if ('problem' in reading) throw new CommandError(exitCodes.start, reading.problem);
  return reading.value === '' ? null : reading.value;
}

/** Variable for pages of other origins that has no effect, as a sentence; null where there is none. */
export function corsProblem(variables: NodeJS.ProcessEnv): string | null {
  const hasOrigin = hasText(variables, 'CORS_ORIGIN');
  if (hasOrigin && !hasText(variables, 'CORS_ENABLED')) return 'CORS_ORIGIN has no effect without CORS_ENABLED=true.';
  return variables.CORS_ENABLED === 'true' && !hasOrigin ? 'CORS_ENABLED has no effect without CORS_ORIGIN.' : null;
}

/** True if a variable, or the file that names its text, is set and not empty. */
export function hasText(variables: NodeJS.ProcessEnv, name: string): boolean {
  return [name, `${name}_FILE`].some((variable) => (variables[variable] ?? '') !== '');
}
