/** Functions of fields and relations. Source: API specification, sections 5.3 and 14.2. */
import { functionsOf, type PortableType } from '@tablewright/runtime/language';
import { sdlType } from '../print/sdl.ts';

/** Groups of functions of a field: it has a date, a time, both, or elements to count. */
export type FunctionGroup = 'date' | 'time' | 'datetime' | 'count';

/** The functions of a field; null where there are none. */
export function functionGroup(type: PortableType): FunctionGroup | null {
  const functions = functionsOf(type);
  if (functions.includes('count')) return 'count';
  const dated = functions.includes('year');
  if (functions.includes('hour')) return dated ? 'datetime' : 'time';
  return dated ? 'date' : null;
}

/** `datetime_functions`: type of their results. */
export function functionsType(group: FunctionGroup): string {
  return `${group}_functions`;
}

/** `datetime_function_filter_operators`: filter of their results. */
export function functionsFilter(group: FunctionGroup): string {
  return `${group}_function_filter_operators`;
}

/** Type of what is computed of a type that has distances: `geometry_functions`. */
export function distanceType(type: PortableType): string {
  return `${type}_functions`;
}

const examples = { date: 'date', time: 'time', datetime: 'timestamp', count: 'json' } as const;

/** The types of functions. */
export function functionTypes(): string {
  const all = (['date', 'time', 'datetime', 'count'] as const).map((group) => {
    const names = functionsOf(examples[group]);
    return [
      sdlType(
        'type',
        functionsType(group),
        names.map((name) => ({ name, type: 'Int' })),
      ),
      sdlType(
        'input',
        functionsFilter(group),
        names.map((name) => ({ name, type: 'number_filter_operators' })),
      ),
    ];
  });
  return all.flat().join('\n');
}
