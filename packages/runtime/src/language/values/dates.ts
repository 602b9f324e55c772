/**
 * Text forms of dates, times and durations, checked without the database (API specification, section 6).
 *
 * Each function returns the form that servers read independently of session settings, or undefined when the text is not
 * a possible value.
 */

const datePattern = /^([+-]?\d{4,7})-(\d{2})-(\d{2})( BC)?$/;
const timePattern = /^(\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?$/;
const offsetPattern = /^([+-])(\d{2})(?::?(\d{2})(:\d{2})?)?$/;
/** Up to 838 hours, before or after. */
const longTimePattern = /^-?(?:\d{2}|[1-8]\d{2}):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/;
const durationPattern =
  /^P(?=.)(?:([+-]?\d{1,9})Y)?(?:([+-]?\d{1,10})M)?(?:([+-]?\d{1,9})W)?(?:([+-]?\d{1,10})D)?(?:T(?=.)(?:[+-]?\d{1,10}H)?(?:[+-]?\d{1,9}M)?(?:[+-]?\d{1,9}(?:\.\d{1,9})?S)?)?$/;

/** The first day of both `date` and `timestamptz`, and the last years of each. The servers refuse what is beyond by an offset. */
const firstDay = { year: -4713, date: '11-24' };
const lastYears = { date: 5_874_897, timestamp: 294_276 };

/** Days of a month of the proleptic Gregorian calendar; month 1 to 12. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

interface Day {
  /** `YYYY-MM-DD` with the year as servers count it. */
  readonly text: string;
  /** Appended after everything else: ` BC` for years before 1. */
  readonly era: '' | ' BC';
}

/** Reads a day of a type. Years before the first have a sign, or ` BC` at the end, as they are read. */
function readDay(text: string, type: keyof typeof lastYears): Day | undefined {
  const match = datePattern.exec(text);
  if (match === null) return undefined;
  const [, yearText = '', monthText = '', dayText = '', era = ''] = match;
  if (era !== '' && !/^0*[1-9]/.test(yearText)) return undefined;
  const year = era === '' ? Number(yearText) : 1 - Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  if (year < firstDay.year || year > lastYears[type] || month < 1 || month > 12) return undefined;
  if (year === firstDay.year && `${monthText}-${dayText}` < firstDay.date) return undefined;
  if (day < 1 || day > daysInMonth(year, month)) return undefined;
  // ISO 8601 has a year 0, servers call it 1 BC.
  const shown = year < 1 ? 1 - year : year; // without the sign, which would be read as an offset
  return { text: `${String(shown).padStart(4, '0')}-${monthText}-${dayText}`, era: year < 1 ? ' BC' : '' };
}

function readClock(text: string): string | undefined {
  const match = timePattern.exec(text);
  if (match === null) return undefined;
  const [, hour = '', minute = '', second = '00', fraction = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return `${hour}:${minute}:${second}${fraction}`;
}

/** Only times with a zone have seconds in their offsets. */
function readOffset(text: string, zoned = false): string | undefined {
  if (text === 'Z' || text === 'z') return '+00:00';
  const match = offsetPattern.exec(text);
  if (match === null) return undefined;
  const [, sign = '+', hour = '', minute = '00', second = ''] = match;
  if (Number(hour) > 15 || Number(minute) > 59 || (second !== '' && !(zoned && second <= ':59'))) return undefined;
  return `${sign}${hour}:${minute}${zoned ? second : ''}`;
}

/** Splits `2026-01-02T10:00:00+01:00` into date, time and offset; the time and the offset may be absent. */
function split(text: string): { date: string; clock: string | undefined; offset: string | undefined } | undefined {
  const match = /^([+-]?\d{4,7}-\d{2}-\d{2})(?:[Tt ]([\d:.]+)([Zz]|[+-][\d:]+)?)?( BC)?$/.exec(text);
  if (match === null) return undefined;
  const [, date = '', clock, offset, era = ''] = match;
  return { date: date + era, clock, offset };
}

function isInfinite(text: string): boolean {
  return text === 'infinity' || text === '-infinity';
}

/** A `date`: `YYYY-MM-DD`, `infinity`, `-infinity`. */
export function readDate(text: string): string | undefined {
  if (isInfinite(text)) return text;
  const day = readDay(text, 'date');
  return day && day.text + day.era;
}

/** A `time`: `HH:MM[:SS[.ffffff]]`, up to the end of a day, `24:00`; with `zoned` an offset may follow, UTC when it does not. */
export function readTime(text: string, zoned: boolean): string | undefined {
  const match = /^([\d:.]+)([Zz]|[+-][\d:]+)?$/.exec(text);
  const clock = /^24:00(?::00(?:\.0{1,9})?)?$/.test(match?.[1] ?? '') ? '24:00:00' : readClock(match?.[1] ?? '');
  const offset = readOffset(match?.[2] ?? 'Z', zoned);
  if (clock === undefined || offset === undefined || (match?.[2] !== undefined && !zoned)) return undefined;
  return zoned ? clock + offset : clock;
}

/** A time of servers that count hours beyond a day: `-838:59:59`. */
export function readLongTime(text: string): string | undefined {
  return longTimePattern.test(text) ? text : undefined;
}

/** A `timestamp` without zone: a date, or a date and a time. */
export function readDateTime(text: string): string | undefined {
  if (isInfinite(text)) return text;
  const parts = split(text);
  const day = readDay(parts?.date ?? '', 'timestamp');
  const clock = readClock(parts?.clock ?? '00:00:00');
  if (day === undefined || clock === undefined || parts?.offset !== undefined) return undefined;
  return `${day.text} ${clock}${day.era}`;
}

/** A `timestamptz`: a date, or a date and a time with an offset, `Z`, or none, which means UTC. */
export function readTimestamp(text: string): string | undefined {
  if (isInfinite(text)) return text;
  const parts = split(text);
  const day = readDay(parts?.date ?? '', 'timestamp');
  const clock = readClock(parts?.clock ?? '00:00:00');
  const offset = readOffset(parts?.offset ?? 'Z');
  if (day === undefined || clock === undefined || offset === undefined) return undefined;
  return `${day.text} ${clock}${offset}${day.era}`;
}

/** An ISO 8601 duration such as `P1Y2M3DT4H5M6.5S` or `P-1D`; `infinity`, `-infinity`. */
export function readDuration(text: string): string | undefined {
  return isInfinite(text) || durationPattern.test(text) ? text : undefined;
}
