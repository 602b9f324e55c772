/** Transformations that have names: those of the project, and those that there always are. Source: section 11.3. */

import type { TransformEnvironment } from '../../environment/files.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { invalid, readTransformation, type Transformation, type TransformationChoice } from './transformation.ts';

/** Settings of a project for assets. */
export interface AssetSettings {
  /** Which transformations requests may ask for. */
  readonly allowed: 'all' | 'none' | 'presets';
  /** As `storage_asset_presets` holds them. */
  readonly presets: JsonValue;
}

const systemPresets: ReadonlyMap<string, Transformation> = new Map([
  ['system-small-cover', { width: 64, height: 64, fit: 'cover' }],
  ['system-small-contain', { width: 64, fit: 'contain' }],
  ['system-medium-cover', { width: 300, height: 300, fit: 'cover' }],
  ['system-medium-contain', { width: 300, fit: 'contain' }],
  ['system-large-cover', { width: 800, height: 800, fit: 'cover' }],
  ['system-large-contain', { width: 800, fit: 'contain' }],
]);

/** The transformation that is wanted, as far as the settings allow it. Throws INVALID_QUERY. */
export function allowedTransformation(
  requested: Exclude<TransformationChoice, { readonly kind: 'nothing' }>,
  settings: AssetSettings,
  limits: TransformEnvironment,
): Transformation {
  if (settings.allowed === 'none') throw invalid('This project does not transform assets.');
  if (requested.kind === 'own') {
    if (settings.allowed === 'presets') throw invalid('This project transforms assets by presets, which "key" names.');
    return requested.transformation;
  }
  const found = systemPresets.get(requested.key) ?? presetOf(settings.presets, requested.key, limits);
  if (found === undefined) throw invalid('"key" names no preset.');
  return found;
}

function presetOf(presets: JsonValue, key: string, limits: TransformEnvironment): Transformation | undefined {
  const list = Array.isArray(presets) ? presets : [];
  const preset = list.filter(isObject).find((candidate) => candidate.key === key);
  if (preset === undefined) return undefined;
  return readTransformation((name) => textOf(preset[name]), limits);
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
