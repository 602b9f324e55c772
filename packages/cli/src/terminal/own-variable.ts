import { variableText } from '@tablewright/runtime/variables';
import { CommandError, exitCodes } from '../errors/failures.ts';

/** The text of a variable of this process, or of the file that `<name>_FILE` names; null where neither is set. */
export function ownVariable(name: string): string | null {
  const reading = variableText(process.env, name);
  if ('problem' in reading) throw new CommandError(exitCodes.start, reading.problem);
  return reading.value === '' ? null : reading.value;
}

/** File that has the text of a variable; null where the variable itself has it. */
export function fileOfVariable(name: string): string | null {
  return process.env[`${name}_FILE`] || null;
}
