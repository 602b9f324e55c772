/** Enums, which take more than a name: their values. */

import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { FoundColumn, KnownModel, ModelStep } from './model-sql.ts';
import { objectIn, type Payload } from './payload.ts';

/** Bytes of a value of an enum that the database keeps. */
const longestValue = 63;

/** The values in `meta.options.choices`, as they are told of an enum; undefined where nothing is said of them. */
export function choicesIn(meta: Payload): readonly string[] | undefined {
  const { choices } = objectIn(meta, 'options');
  if (choices === undefined) return undefined;
  const values = Array.isArray(choices) ? choices.map((choice) => (isObject(choice) ? choice.value : choice)) : [];
  const fit = values.filter(
    (value): value is string =>
      typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= longestValue && !value.includes('\0'),
  );
  if (fit.length === 0 || fit.length !== values.length || new Set(fit).size !== fit.length) {
    throw invalidPayload(
      `"meta.options.choices" of an enum must be a list of objects, each with another text of at most ${longestValue} bytes as its "value".`,
    );
  }
  return fit;
}

/** Adds values to the type of a field. Throws INVALID_PAYLOAD for values that are missing: items may have them. */
export function enumSteps({ sql }: KnownModel, found: FoundColumn, meta: Payload): readonly ModelStep[] {
  const { column } = found;
  const requested = column.type === 'enum' ? choicesIn(meta) : undefined;
  if (requested === undefined) return [];
  const existing = column.values ?? [];
  const missing = existing.filter((value) => !requested.includes(value));
  if (missing.length > 0) throw invalidPayload(`Values of an enum stay, so ${missing.join(', ')} must be among them.`);
  const added = requested.filter((value) => !existing.includes(value));
  return added.length === 0 ? [] : sql.addValues(found, [...existing, ...added], added);
}
