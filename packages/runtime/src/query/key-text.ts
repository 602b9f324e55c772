/** Values of keys as texts by which a request tells items apart. */
import type { ValueType } from '../language/index.ts';

const decimal = /^(-?)\+?0*(\d+?)(?:\.(\d*?)0*)?$/;
const moment = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d*?)0*)?([+-]\d{2}:\d{2})$/;

/**
 * The one text of all spellings of a value that the database holds to be the same: `1.50` and `01.5`, an instant in any
 * zone. Other types have one text already, or leave it to the database what is the same.
 */
export function oneSpelling({ type }: ValueType, text: string): string {
  if (type === 'decimal') return text.replace(decimal, decimalText);
  return type === 'timestamp' ? text.replace(moment, momentText) : text;
}

function decimalText(_: string, sign: string, whole: string, places = ''): string {
  const value = places === '' ? whole : `${whole}.${places}`;
  return value === '0' ? value : sign + value;
}

function momentText(_: string, date: string, clock: string, fraction = '', offset = ''): string {
  const [day, time] = new Date(`${date}T${clock}${offset}`).toISOString().slice(0, -5).split('T');
  return `${day} ${time}${fraction === '' ? '' : `.${fraction}`}+00:00`;
}
