import { configPlace, type Diagnostic } from '../diagnostic.ts';
import { suggest } from '../did-you-mean.ts';
import type {
  ArchiveConfig,
  CacheConfig,
  ClientConfig,
  CollectionConfig,
  DatabaseConfig,
  FieldConfig,
  FunctionConfig,
  GeoConfig,
  GraphqlConfig,
  ManyToAnyConfig,
  ManyToManyConfig,
  PlatformConfig,
  RelationConfig,
  RowSecurityConfig,
  SearchConfig,
  SoftDeleteConfig,
  TenantConfig,
  TranslationsConfig,
} from './config.ts';

/** Checks a configuration's value. Wrong parts are left out and reported by path; rules look names up later. */
export function readConfig(value: unknown): {
  readonly config: PlatformConfig;
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  const config = configuration(value, [], diagnostics) ?? {};
  return { config, diagnostics };
}

/** A text that is not empty. */
const text: Decoder<string> = (value, path, diagnostics) => {
  if (typeof value === 'string' && value !== '') return value;
  return refuse(path, `must be a text${value === '' ? ' that is not empty' : ''}`, diagnostics);
};

const scalar: Decoder<string | number | boolean> = (value, path, diagnostics) =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
    ? value
    : refuse(path, 'must be a text, a number, true or false', diagnostics);

const database = objectOf<DatabaseConfig>({
  url: text,
  schemas: listOf(text),
  include: listOf(text),
  exclude: listOf(text),
  systemSchema: text,
  rowSecurity: falseOr(
    objectOf<RowSecurityConfig>({ claims: text, roles: byName(text), extraClaims: byName(scalar) }, 'claims'),
  ),
});

/** True or false. */
const flag: Decoder<boolean> = (value, path, diagnostics) =>
  typeof value === 'boolean' ? value : refuse(path, 'must be true or false', diagnostics);

const anyText: Decoder<string> = (value, path, diagnostics) =>
  typeof value === 'string' ? value : refuse(path, 'must be a text', diagnostics);

const field = objectOf<FieldConfig>({
  name: text,
  hidden: flag,
  note: anyText,
  deprecated: text,
  required: flag,
  geo: objectOf<GeoConfig>({ srid: oneOf('keep') }, 'srid'),
  type: oneOf('csv', 'hash', 'secret', 'token', 'uuid', 'boolean', 'json'),
});

const archiveRule = objectOf<ArchiveConfig>({ field: text, value: anyText, unarchiveValue: anyText }, 'field');

const collection = objectOf<CollectionConfig>({
  name: text,
  note: anyText,
  deprecated: text,
  hidden: flag,
  singleton: flag,
  key: listOf(text),
  sort: text,
  accountability: oneOf('all', 'activity', 'none'),
  reads: oneOf('replica', 'primary'),
  cache: objectOf<CacheConfig>({ public: text }, 'public'),
  archive: archiveRule,
  softDelete: objectOf<SoftDeleteConfig>({ field: text, value: anyText, restore: anyText }, 'field'),
  search: objectOf<SearchConfig>({ mode: oneOf('text'), column: text, fields: listOf(text), language: text }, 'mode'),
  fields: byName(field),
});

const relation = objectOf<RelationConfig>({
  name: text,
  deprecated: text,
  hidden: flag,
  sort: text,
  onDeselect: oneOf('nullify', 'delete'),
});

const manyToAny = objectOf<ManyToAnyConfig>(
  {
    collection: text,
    field: text,
    link: text,
    linkField: text,
    collectionField: text,
    itemField: text,
    allowed: listOf(text),
    sort: text,
  },
  'collection',
  'field',
  'link',
  'linkField',
  'collectionField',
  'itemField',
  'allowed',
);

const translations = objectOf<TranslationsConfig>(
  { collection: text, field: text, child: text, languages: text },
  'collection',
  'field',
  'child',
  'languages',
);

const manyToMany = objectOf<ManyToManyConfig>(
  { junction: text, near: text, far: text, name: text, inverseName: text, sort: text },
  'junction',
  'near',
  'far',
);

const configuration = objectOf<PlatformConfig>({
  database,
  output: text,
  client: objectOf<ClientConfig>({ packageName: text }),
  graphql: flagOr(
    objectOf<GraphqlConfig>({ connections: flag, enums: oneOf<'types' | 'all' | false>('types', 'all', false) }),
  ),
  openapiTypes: flag,
  permissions: text,
  permissionSource: oneOf('file', 'tables'),
  templates: text,
  tenant: objectOf<TenantConfig>(
    { column: text, of: text, shared: listOf(text), exempt: listOf(text) },
    'column',
    'of',
  ),
  collections: byName(collection),
  functions: byName(objectOf<FunctionConfig>({ name: text, field: text })),
  relations: byName(relation),
  manyToAny: listOf(manyToAny),
  translations: listOf(translations),
  manyToMany: listOf(manyToMany),
});

/** Keys from the root of the configuration. */
type Path = readonly (string | number)[];

/** Checks a value of the configuration. Undefined: it is wrong, and that has been reported. */
type Decoder<T> = (value: unknown, path: Path, diagnostics: Diagnostic[]) => T | undefined;

function falseOr<T>(decode: Decoder<T>): Decoder<false | T> {
  return (value, path, diagnostics) => (value === false ? value : decode(value, path, diagnostics));
}

function flagOr<T extends object>(object: Decoder<T>): Decoder<boolean | T> {
  return (value, path, diagnostics) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'object' && value !== null) return object(value, path, diagnostics);
    return refuse(path, 'must be true, false or an object', diagnostics);
  };
}

/** One of a few texts, or false. */
function oneOf<const T extends string | false>(...choices: readonly T[]): Decoder<T> {
  return (value, path, diagnostics) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const texts = choices.filter((choice): choice is T & string => typeof choice === 'string');
    const hint = typeof value === 'string' ? suggest(value, texts) : null;
    return refuse(
      path,
      `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`,
      diagnostics,
      hint,
    );
  };
}

/** An array. Elements that are wrong are left out. */
function listOf<T>(element: Decoder<T>): Decoder<readonly T[]> {
  return (value, path, diagnostics) => {
    if (!Array.isArray(value)) return refuse(path, 'must be an array', diagnostics);
    const items: readonly unknown[] = value;
    return items.flatMap((item, index) => {
      const decoded = element(item, [...path, index], diagnostics);
      return decoded === undefined ? [] : [decoded];
    });
  };
}

/** An object whose keys are names of the user's. Values that are wrong are left out. */
function byName<T>(element: Decoder<T>): Decoder<Readonly<Record<string, T>>> {
  return (value, path, diagnostics) => {
    const entries = entriesOf(value, path, diagnostics);
    return entries && Object.fromEntries(decodeEntries(entries, () => element, path, diagnostics));
  };
}

type Shape<T> = { readonly [K in keyof T]-?: Decoder<Exclude<T[K], undefined>> };

/** An object with the keys of a shape. Unknown keys are reported; undefined when a required one is missing or wrong. */
function objectOf<T extends object>(shape: Shape<T>, ...required: readonly (keyof T & string)[]): Decoder<T> {
  const decoders = new Map<string, Decoder<unknown>>(Object.entries<Decoder<unknown>>(shape));
  return (value, path, diagnostics) => {
    const entries = entriesOf(value, path, diagnostics);
    if (entries === undefined) return undefined;
    const recognised = entries.filter(([key]) => isKnown(key, decoders, path, diagnostics));
    const decoded = decodeEntries(recognised, (key) => decoders.get(key), path, diagnostics);
    const present = new Set(entries.map(([key]) => key));
    for (const key of required) if (!present.has(key)) refuse(path, `needs "${key}"`, diagnostics);
    const complete = required.every((key) => decoded.some(([name]) => name === key));
    // The only cast of this file: each key was decoded by the decoder that `shape` has for it.
    return complete ? (Object.fromEntries(decoded) as T) : undefined;
  };
}

function decodeEntries<T>(
  entries: readonly (readonly [string, unknown])[],
  decoderOf: (key: string) => Decoder<T> | undefined,
  path: Path,
  diagnostics: Diagnostic[],
): readonly (readonly [string, T])[] {
  return entries.flatMap(([key, value]) => {
    const decoded = decoderOf(key)?.(value, [...path, key], diagnostics);
    return decoded === undefined ? [] : [[key, decoded] as const];
  });
}

/** The keys of a plain object that have a value. */
function entriesOf(
  value: unknown,
  path: Path,
  diagnostics: Diagnostic[],
): readonly (readonly [string, unknown])[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(path, 'must be an object', diagnostics);
  }
  if (!isPlain(value)) {
    const hint = 'For a table or column named __proto__ write the key as ["__proto__"].';
    return refuse(path, 'must be a plain object', diagnostics, hint);
  }
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return entries.filter(([, item]) => item !== undefined);
}

/** An object literal. One with the key `__proto__` has another prototype, and that key is lost. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (typeof prototype === 'object' && Object.hasOwn(Object(prototype), 'isPrototypeOf'));
}

function isKnown(key: string, decoders: ReadonlyMap<string, unknown>, path: Path, diagnostics: Diagnostic[]): boolean {
  if (decoders.has(key)) return true;
  const knownKeys = [...decoders.keys()];
  diagnostics.push({
    code: 'config-key',
    severity: 'error',
    place: configPlace(...path),
    message: `The key "${key}" is unknown.`,
    hint: suggest(key, knownKeys) ?? `Known keys are ${knownKeys.map((name) => `"${name}"`).join(', ')}.`,
  });
  return false;
}

function refuse(path: Path, reason: string, diagnostics: Diagnostic[], hint: string | null = null): undefined {
  const subject = path.length === 0 ? 'The configuration' : `"${String(path.at(-1))}"`;
  const message = `${subject} ${reason}.`;
  diagnostics.push({ code: 'config-value', severity: 'error', place: configPlace(...path), message, hint });
  return undefined;
}
