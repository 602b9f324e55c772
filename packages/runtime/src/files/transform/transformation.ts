/** Transformations of images, as requests and presets state them. Source: API specification, section 11.3. */
import type { TransformEnvironment } from '../../environment/files.ts';
import { PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { type Operation, readOperations } from './operations.ts';

const fits = ['cover', 'contain', 'inside', 'outside'] as const;
const formats = ['jpg', 'png', 'webp', 'avif'] as const;

/** How an image fills its box. */
type Fit = (typeof fits)[number];

/** Formats that images are made in. */
export type ImageFormat = (typeof formats)[number];

/** Transformation of an image; absent properties stay. */
export interface Transformation {
  readonly width?: number;
  readonly height?: number;
  readonly fit?: Fit;
  /** From 1 to 100. */
  readonly quality?: number;
  readonly withoutEnlargement?: boolean;
  readonly format?: ImageFormat;
  readonly transforms?: readonly Operation[];
}

/** Transformation that a request selects: none, a preset, or its own. */
type TransformationChoice =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'preset'; readonly key: string }
  | { readonly kind: 'own'; readonly transformation: Transformation };

/** Reads the parameters of a request. Throws INVALID_QUERY for values that cannot be, or exceed the limits. */
export function readTransformationChoice(
  parameters: ReadonlyMap<string, string>,
  limits: TransformEnvironment,
): TransformationChoice {
  const transformation = readTransformation((name) => parameters.get(name), limits);
  const key = parameters.get('key');
  if (key !== undefined && key !== '') return { kind: 'preset', key };
  return Object.keys(transformation).length === 0 ? { kind: 'nothing' } : { kind: 'own', transformation };
}

/** Reads a transformation; `textOf` gives the text of a part, undefined or empty where there is none. */
function readTransformation(
  textOf: (name: string) => string | undefined,
  limits: TransformEnvironment,
): Transformation {
  const text = (name: string): string | undefined => textOf(name) || undefined;
  const side = (name: string): number | undefined => readNumber(name, text(name), limits.maxDimension);
  const transforms = text('transforms');
  const operations = transforms === undefined ? undefined : readOperations(transforms, limits);
  return present({
    width: side('width'),
    height: side('height'),
    fit: readChoice('fit', text('fit'), fits),
    quality: readNumber('quality', text('quality'), 100),
    withoutEnlargement: readFlag(text('withoutEnlargement')),
    format: readChoice('format', text('format'), formats),
    transforms: operations,
  });
}

type Present<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

function present<T extends object>(values: T): Present<T> {
  const kept: Present<T> = { ...values };
  for (const name in values) if (values[name] === undefined) delete kept[name];
  return kept;
}

function readNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw invalid(`"${name}" must be a whole number from 1 to ${max}.`);
}

function readChoice<const T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw invalid(`"${name}" must be one of ${choices.join(', ')}.`);
}

function readFlag(text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'true' || text === 'false')
    return text === undefined ? undefined : text === 'true';
  throw invalid('"withoutEnlargement" must be true or false.');
}

/** Error for an invalid transformation. */
export function invalid(message: string): PlatformError {
  return new PlatformError('INVALID_QUERY', message);
}

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
