/**
 * Operations on images beside their size and format: a list of names with their arguments. None but these, and none with
 * arguments that would cost more than an image of the largest size does.
 */
import type { Sharp as Image } from 'sharp';
import type { TransformEnvironment } from '../../environment/files.ts';
import { PlatformError } from '../../errors.ts';

/** An operation with its checked arguments. */
export interface Operation {
  readonly name: string;
  readonly values: readonly (number | string)[];
}

/**
 * Parameters of an operation, and its effect on an image. Numbers stand between two bounds; all but `required` may
 * lack.
 */
interface Kind {
  readonly takes: readonly (readonly [least: number, most: number, whole?: true] | RegExp)[];
  readonly required: number;
  apply(image: Image, values: readonly (number | string)[]): Image;
}

const number = (value: number | string | undefined): number => Number(value ?? 0);

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

/** Names of all operations. */
const operationNames: readonly string[] = [...kinds.keys()];

/** Reads a list of operations, `[["blur", 4], ["flip"]]`. Throws INVALID_QUERY. */
export function readOperations(text: string, { maxOperations }: Pick<TransformEnvironment, 'maxOperations'>) {
  const list = parse(text);
  if (!Array.isArray(list)) throw refuse('"transforms" must be a JSON list of lists, such as [["blur", 4]].');
  if (list.length > maxOperations) throw refuse(`"transforms" may have ${maxOperations} operations.`);
  return list.map(readOperation);
}

function readOperation(entry: unknown): Operation {
  const [name, ...values]: readonly unknown[] = Array.isArray(entry) ? entry : [];
  const kind = typeof name === 'string' ? kinds.get(name) : undefined;
  if (typeof name !== 'string' || kind === undefined) {
    throw refuse(`An operation must be one of ${operationNames.join(', ')}.`);
  }
  const taken = values.filter((value) => typeof value === 'number' || typeof value === 'string');
  const fits = taken.every((value, index) => isTaken(value, kind.takes[index]));
  if (!fits || taken.length < values.length || values.length < kind.required || values.length > kind.takes.length) {
    throw refuse(`The arguments of "${name}" cannot be.`);
  }
  return { name, values: taken };
}

function isTaken(value: number | string, taken: Kind['takes'][number] | undefined): boolean {
  if (taken === undefined) return false;
  if (taken instanceof RegExp) return typeof value === 'string' && taken.test(value);
  const [least, max, whole] = taken;
  return typeof value === 'number' && value >= least && value <= max && (whole !== true || Number.isInteger(value));
}

/** Applies an operation. */
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

function refuse(message: string): PlatformError {
  return new PlatformError('INVALID_QUERY', message);
}
