import type { Diagnostic } from '../diagnostic.ts';
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
import { anyText, byName, flag, flagOr, listOf, objectOf, oneOf, scalar, text } from './decode.ts';

/**
 * Checks the value that a configuration file exports.
 *
 * Parts that are wrong are left out and reported by their path; names are looked up in the database later, by rules.
 */
export function readConfig(value: unknown): {
  readonly config: PlatformConfig;
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  const config = configuration(value, [], diagnostics) ?? {};
  return { config, diagnostics };
}

const database = objectOf<DatabaseConfig>({
  url: text,
  schemas: listOf(text),
  include: listOf(text),
  exclude: listOf(text),
  systemSchema: text,
  rowSecurity: objectOf<RowSecurityConfig>(
    { claims: text, roles: byName(text), extraClaims: byName(scalar) },
    'claims',
  ),
});

const field = objectOf<FieldConfig>({
  name: text,
  hidden: flag,
  note: anyText,
  deprecated: text,
  required: flag,
  geo: objectOf<GeoConfig>({ srid: oneOf('keep') }, 'srid'),
  type: oneOf('csv', 'hash', 'secret', 'token', 'uuid', 'boolean', 'json'),
});

const archiveRule = objectOf<ArchiveConfig>({ field: text, value: anyText, unarchiveValue: anyText }, 'field', 'value');

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
