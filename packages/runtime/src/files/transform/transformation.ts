/** Transformations of images, as requests and presets state them. Source: API specification, section 11.3. */

import type { Sharp as Image } from 'sharp';
import type { TransformEnvironment } from '../../environment/files.ts';
import { invalidQuery } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { imageFits, imageFormats } from '../../system/fields/field-rules.ts';

/** Way in which an image fills its box. */
type Fit = (typeof imageFits)[number];

export type ImageFormat = (typeof imageFormats)[number];

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
    fit: readChoice('fit', text('fit'), imageFits),
    quality: readNumber('quality', text('quality'), 100),
    withoutEnlargement: readFlag(text('withoutEnlargement')),
    format: readChoice('format', text('format'), imageFormats),
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
  throw invalidQuery(`"${name}" must be a whole number from 1 to ${max}.`);
}

function readChoice<const T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw invalidQuery(`"${name}" must be one of ${choices.join(', ')}.`);
}

function readFlag(text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'true' || text === 'false')
    return text === undefined ? undefined : text === 'true';
  throw invalidQuery('"withoutEnlargement" must be true or false.');
}

export interface AssetSettings {
  /** Transformations that requests may ask for. */
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
  if (settings.allowed === 'none') throw invalidQuery('This project does not transform assets.');
  if (requested.kind === 'own') {
    if (settings.allowed === 'presets')
      throw invalidQuery('This project transforms assets by presets, which "key" names.');
    return requested.transformation;
  }
  const found = systemPresets.get(requested.key) ?? presetOf(settings.presets, requested.key, limits);
  if (found === undefined) throw invalidQuery('"key" names no preset.');
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

interface Operation {
  readonly name: string;
  readonly values: readonly (number | string)[];
}

/** Parameters of an operation, and its effect. Numbers stand between two bounds; all but `required` may lack. */
interface Kind {
  readonly takes: readonly (readonly [least: number, most: number, whole?: true] | RegExp)[];
  readonly required: number;
  apply(image: Image, values: readonly (number | string)[]): Image;
}

const number = (value: number | string | undefined): number => Number(value ?? 0);

/** Operations on images beside size and format, whose arguments cost no more than the largest image does. */
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['rotate', { takes: [[-360, 360]], required: 1, apply: (image, [angle]) => image.rotate(number(angle)) }],
  ['flip', { takes: [], required: 0, apply: (image) => image.flip() }],
  ['flop', { takes: [], required: 0, apply: (image) => image.flop() }],
  ['grayscale', { takes: [], required: 0, apply: (image) => image.grayscale() }],
  ['negate', { takes: [], required: 0, apply: (image) => image.negate({ alpha: false }) }],
  ['normalize', { takes: [], required: 0, apply: (image) => image.normalize() }],
  ['sharpen', { takes: [], required: 0, apply: (image) => image.sharpen() }],
  [
    'blur',
    {
      takes: [[0.3, 100]],
      required: 0,
      apply: (image, [sigma]) => image.blur(sigma === undefined ? undefined : number(sigma)),
    },
  ],
  ['median', { takes: [[1, 9, true]], required: 0, apply: (image, [size]) => image.median(number(size ?? 3)) }],
  ['gamma', { takes: [[1, 3]], required: 0, apply: (image, [gamma]) => image.gamma(number(gamma ?? 2.2)) }],
  ['tint', { takes: [/^#[0-9a-f]{6}$/i], required: 1, apply: (image, [color]) => image.tint(String(color)) }],
  [
    'extract',
    {
      // Left, top, width and height.
      takes: [
        [0, 65_535, true],
        [0, 65_535, true],
        [1, 65_535, true],
        [1, 65_535, true],
      ],
      required: 4,
      apply: (image, [left, top, width, height]) =>
        image.extract({ left: number(left), top: number(top), width: number(width), height: number(height) }),
    },
  ],
]);

const operationNames: readonly string[] = [...kinds.keys()];

/** Reads a list of operations, `[["blur", 4], ["flip"]]`. Throws INVALID_QUERY. */
function readOperations(text: string, { maxOperations }: Pick<TransformEnvironment, 'maxOperations'>) {
  const list = parse(text);
  if (!Array.isArray(list) || !list.every(Array.isArray))
    throw invalidQuery('"transforms" must be a JSON list of lists, such as [["blur", 4]].');
  if (list.length > maxOperations) throw invalidQuery(`"transforms" may have at most ${maxOperations} operations.`);
  return list.map(readOperation);
}

function readOperation(entry: unknown): Operation {
  const [name, ...values]: readonly unknown[] = Array.isArray(entry) ? entry : [];
  const kind = typeof name === 'string' ? kinds.get(name) : undefined;
  if (typeof name !== 'string' || kind === undefined) {
    throw invalidQuery(`An operation must be one of ${operationNames.join(', ')}.`);
  }
  const taken = values.filter((value) => typeof value === 'number' || typeof value === 'string');
  const fits = taken.every((value, index) => isTaken(value, kind.takes[index]));
  if (!fits || taken.length < values.length || values.length < kind.required || values.length > kind.takes.length) {
    throw invalidQuery(`"${name}" takes ${kind.takes.map(describeTaken).join(', ') || 'no arguments'}.`);
  }
  return { name, values: taken };
}

function describeTaken(taken: Kind['takes'][number]): string {
  if (taken instanceof RegExp) return 'a colour such as "#3366ff"';
  const [least, max, whole] = taken;
  return `a ${whole === true ? 'whole ' : ''}number from ${least} to ${max}`;
}

function isTaken(value: number | string, taken: Kind['takes'][number] | undefined): boolean {
  if (taken === undefined) return false;
  if (taken instanceof RegExp) return typeof value === 'string' && taken.test(value);
  const [least, max, whole] = taken;
  return typeof value === 'number' && value >= least && value <= max && (whole !== true || Number.isInteger(value));
}

export function applyOperation(image: Image, { name, values }: Operation): Image {
  return kinds.get(name)?.apply(image, values) ?? image;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
