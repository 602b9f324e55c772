import type { JsonValue } from '@tablewright/runtime/language';
import { isDynamic } from '@tablewright/runtime/language';
import type { PlacedValue } from '../../config/permissions/permission-document.ts';
import { placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { didYouMean } from '../../did-you-mean.ts';

const dynamicNames = ['$NOW', '$CURRENT_USER', '$CURRENT_ROLE'];

/**
 * Texts in a rule that are almost a dynamic value. Taken as text, `_neq: $CURENT_USER` would match every row, so a
 * near miss is an error; other text that starts with a dollar sign stays text.
 */
export function findMisspeltValues(source: PlacedValue): readonly Diagnostic[] {
  return textsIn(source.value, []).flatMap(({ text, path }): readonly Diagnostic[] => {
    const name = /^\$[A-Za-z_-]+/.exec(text)?.[0];
    if (name === undefined || isDynamic(text)) return [];
    const meant = didYouMean(name, dynamicNames);
    if (meant === null) return [];
    const message = `"${name}" is no dynamic value.`;
    const location = placeIn(source, path);
    return [{ code: 'dynamic-value', severity: 'error', place: location, message, hint: `Did you mean "${meant}"?` }];
  });
}

interface PlacedText {
  readonly text: string;
  readonly path: readonly string[];
}

function textsIn(value: JsonValue, path: readonly string[]): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}
