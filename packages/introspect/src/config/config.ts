/**
 * The project's configuration: the default export of `platform.config.ts`. Everything is optional.
 * @example export default defineConfig({ database: { exclude: ['audit_*'] }, collections: { articles: { sort: 'position' } } });
 */
export interface PlatformConfig {
  /** The database, and the parts of it that are compiled. */
  readonly database?: DatabaseConfig;
  /** Folder of the generated files, relative to the project; `generated` when absent. */
  readonly output?: string;
  /** File of the permissions, relative to the project; `permissions.yaml` when absent. */
  readonly permissions?: string;
  /**
   * Source of roles and rules: the file of the permissions, or the platform's own tables, which administrators write
   * while the server runs; `file` when absent.
   */
  readonly permissionSource?: 'file' | 'tables';
  /** The packages in `generated/client`. */
  readonly client?: ClientConfig;
  /**
   * Additions to the GraphQL API. `false` leaves it out, for example where names differ only in characters that it does
   * not have.
   */
  readonly graphql?: boolean | GraphqlConfig;
  /** `true` also writes the types that openapi-typescript makes of each OpenAPI document; it has to be installed. */
  readonly openapiTypes?: boolean;
  /** Folder with templates that replace those of the same name, relative to the project. */
  readonly templates?: string;
  /** Keeps callers to the rows of their tenant, in every table. */
  readonly tenant?: TenantConfig;
  /** By table name, or `schema.table` where the name alone is not unique. */
  readonly collections?: Readonly<Record<string, CollectionConfig>>;
  /**
   * Functions and procedures to serve, and no other: by name, `schema.name`, or with the types of their arguments where
   * several have one name.
   */
  readonly functions?: Readonly<Record<string, FunctionConfig>>;
  /** By `collection.field` as derived, for example `articles.comments`; API names. */
  readonly relations?: Readonly<Record<string, RelationConfig>>;
  /** Relations to items of several collections, through link rows that name collection and key. */
  readonly manyToAny?: readonly ManyToAnyConfig[];
  /** One-to-many relations that hold one row per language. */
  readonly translations?: readonly TranslationsConfig[];
  /** Junctions that the keys of their table do not show. */
  readonly manyToMany?: readonly ManyToManyConfig[];
}

/**
 * The database that is compiled, and the parts of it. Patterns are `table` or `schema.table`, `*` for any text.
 * @example export default defineConfig({ database: { schemas: ['public', 'shop'], exclude: ['shop.audit_*'] } });
 */
export interface DatabaseConfig {
  /** The environment variable DATABASE_URL wins over it; without both the embedded database is used. */
  readonly url?: string;
  /** Schemas to read; every schema that is not the system's when absent. */
  readonly schemas?: readonly string[];
  /** Patterns of tables to read; all when absent. */
  readonly include?: readonly string[];
  /** Patterns of tables to leave out. */
  readonly exclude?: readonly string[];
  /**
   * Schema of the platform's own tables (users, roles, activity, …); default: `platform`. Installed tables are read
   * there independent of `schemas`, `include` and `exclude`.
   */
  readonly systemSchema?: string;
  /**
   * Passes callers on to policies of row-level security. False: no policy binds the role of `DATABASE_URL`, which sees
   * every row. Default: policies may hide rows from it.
   */
  readonly rowSecurity?: RowSecurityConfig | false;
}

/**
 * Settings that pass callers on to policies: each statement of a request has its caller's claims, and runs as a role of
 * the database.
 * @example
 * export default defineConfig({
 *   database: {
 *     rowSecurity: {
 *       claims: 'request.jwt.claims',
 *       roles: { public: 'web_anon', editor: 'web_editor' },
 *       extraClaims: { tenant: '$CURRENT_USER.tenant_id' },
 *     },
 *   },
 * });
 */
export interface RowSecurityConfig {
  /** Setting that holds the claims as JSON, `{"sub": "<key of the user>", "role": "<role>"}`. */
  readonly claims: string;
  /**
   * Role of the database by role of the API; the built-in `public` is needed, and stands for roles that are not named.
   * When absent only claims are set; `admin` when absent is the connection's role.
   */
  readonly roles?: Readonly<Record<string, string>>;
  /**
   * More claims by name: values, or those of the caller as rules have them. At most 4 kB altogether. A name such as
   * `/app_metadata/teams` is the path of a nested claim.
   */
  readonly extraClaims?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Additions to the GraphQL API.
 * @example export default defineConfig({ graphql: { enums: 'types' } });
 */
export interface GraphqlConfig {
  /**
   * Columns that are GraphQL enums: with `types` those of enum types, with `all` also those with a list of values in a
   * check. By default they are strings.
   */
  readonly enums?: 'types' | 'all' | false;
  /** True adds `articles_connection` beside `articles`: pages by cursors, forwards and back. */
  readonly connections?: boolean;
}

/**
 * Publication of generated clients.
 * @example export default defineConfig({ client: { packageName: '@shop/api-{class}' } });
 */
export interface ClientConfig {
  /**
   * Name of each client package, with `{class}` for the access class: `@shop/api-{class}`. When absent
   * `<project>-client-{class}`, after the name in the project's `package.json`.
   */
  readonly packageName?: string;
}

/**
 * Tenants that share the tables of a database. Callers see and write only the rows of their tenant; administrators see
 * all.
 * @example
 * export default defineConfig({
 *   tenant: { column: 'tenant_id', of: '$CURRENT_USER.tenant_id', shared: ['countries'], exempt: ['operator'] },
 * });
 */
export interface TenantConfig {
  /** Column of every table that names the tenant of a row. */
  readonly column: string;
  /** Path from the caller to the value that names their tenant. */
  readonly of: string;
  /** Tables without the column, whose rows all tenants have in common. */
  readonly shared?: readonly string[];
  /** Roles that see the rows of all tenants, as administrators do. */
  readonly exempt?: readonly string[];
}

/**
 * One table in the API. Fields are named as the API names them, or by their column.
 * @example export default defineConfig({ collections: { articles: { note: 'Published texts', sort: 'position' } } });
 */
export interface CollectionConfig {
  /** API name; the table's name when absent (`<schema>_<table>` outside the default schema). */
  readonly name?: string;
  /** Replaces the table's comment. */
  readonly note?: string;
  /** Reason why the collection should not be used any more, and what in its place: everything that leads to it says so. */
  readonly deprecated?: string;
  /** Leaves the table out of the API. */
  readonly hidden?: boolean;
  /** The collection is one object rather than a list. */
  readonly singleton?: boolean;
  /** Fields that identify an item of a view or of a table without a primary key. */
  readonly key?: readonly string[];
  /** Field that orders lists when a request does not say. */
  readonly sort?: string;
  /**
   * History of its changes where the platform's own tables are installed: `all` (default) activity and revisions,
   * `activity` without contents, `none` nothing.
   */
  readonly accountability?: 'all' | 'activity' | 'none';
  /**
   * With `replica` replicas answer its reads also where its rules look at other tables. A membership that was removed may
   * then count for as long as a replica lags. Default: `primary`.
   */
  readonly reads?: 'replica' | 'primary';
  /** Lets shared caches keep answers to requests without a token. Default: none are kept. */
  readonly cache?: CacheConfig;
  /** Field and value that tell that an item is archived. */
  readonly archive?: ArchiveConfig;
  /** Archives items in place of deleting them. */
  readonly softDelete?: SoftDeleteConfig;
  /** Has `search` look for words by an index; by default it looks for texts that contain it. */
  readonly search?: SearchConfig;
  /** By column name. */
  readonly fields?: Readonly<Record<string, FieldConfig>>;
}

/**
 * Time that caches between clients and server may keep answers to requests without a token.
 * @example export default defineConfig({ collections: { articles: { cache: { public: '60s' } } } });
 */
export interface CacheConfig {
  /** At most `300s`. Answers that no purge reaches may be as old. */
  readonly public: string;
}

/**
 * Search for words. It needs an index: GIN over a column or an expression, or FULLTEXT, by what the server has.
 * @example
 * export default defineConfig({
 *   collections: { articles: { search: { mode: 'text', fields: ['title', 'body'], language: 'english' } } },
 * });
 */
export interface SearchConfig {
  readonly mode: 'text';
  /** Column of the type tsvector. Its words are traced from its expression, where it is generated. */
  readonly column?: string;
  /** Fields whose words are indexed: by an expression, or in a column that a trigger fills. */
  readonly fields?: readonly string[];
  /** Text search configuration, where the server has such; `simple` when absent. */
  readonly language?: string;
}

/**
 * Field by which items are put into the archive and taken out of it.
 * @example
 * export default defineConfig({
 *   collections: { articles: { archive: { field: 'status', value: 'archived', unarchiveValue: 'draft' } } },
 * });
 */
export interface ArchiveConfig {
  readonly field: string;
  /** When absent apps choose it. */
  readonly value?: string;
  readonly unarchiveValue?: string;
}

/**
 * DELETE sets a field, and reads pass over items in which it is set.
 * @example export default defineConfig({ collections: { articles: { softDelete: { field: 'deleted_at' } } } });
 */
export interface SoftDeleteConfig {
  /** Gets the time, or `value`. */
  readonly field: string;
  /** Value of archived items; when absent any time is one. */
  readonly value?: string;
  /** Value that clients set to restore an item; null when absent. */
  readonly restore?: string;
}

/** Form of the geometries of a column. */
export interface GeoConfig {
  /** `keep`: positions are numbers of the column's own reference, and distances are in its units. */
  readonly srid: 'keep';
}

/**
 * One column in the API.
 * @example export default defineConfig({ collections: { articles: { fields: { tags: { type: 'csv' }, body_html: { hidden: true } } } } });
 */
export interface FieldConfig {
  /** API name; the column's name when absent. */
  readonly name?: string;
  /** Leaves the column out of the API. */
  readonly hidden?: boolean;
  /** Replaces the column's comment. */
  readonly note?: string;
  /** Reason why the field should not be used any more, and what in its place. */
  readonly deprecated?: string;
  /** Requires a value on create although the database does not. */
  readonly required?: boolean;
  /** Reads the column as another type than the database says. */
  readonly type?: FieldTypeConfig;
  /** By default geometries of a spatial reference are longitude and latitude. */
  readonly geo?: GeoConfig;
}

/** Types a column can be read as (API specification, section 6). */
export type FieldTypeConfig = 'csv' | 'hash' | 'secret' | 'token' | 'uuid' | 'boolean' | 'json';

/**
 * One function or procedure in the API.
 * @example export default defineConfig({ functions: { 'shop.place_order(integer, jsonb)': { name: 'place_order' } } });
 */
export interface FunctionConfig {
  /** API name; the function's name when absent (`<schema>_<name>` outside the default schema). */
  readonly name?: string;
  /** `collection.field`: serves a function of a row as a field of its collection instead. */
  readonly field?: string;
}

/**
 * Changes of one derived relation.
 * @example export default defineConfig({ relations: { 'articles.comments': { sort: 'position', onDeselect: 'delete' } } });
 */
export interface RelationConfig {
  /** API name instead of the derived one. A many-to-one is named by its field: rename that. */
  readonly name?: string;
  /** Reason why the relation should not be used any more, and what in its place. */
  readonly deprecated?: string;
  /** Leaves the relation out; the inverse and the many-to-many of a hidden many-to-one go with it. */
  readonly hidden?: boolean;
  /** Field that orders the related rows: of the target, for a many-to-many of the junction. */
  readonly sort?: string;
  /** Action on a child that is removed from a one-to-many; default: `nullify`. */
  readonly onDeselect?: 'nullify' | 'delete';
}

/**
 * A many-to-any relation: `collection.field` reads the rows of `link` whose `linkField` points at the item.
 * @example
 * export default defineConfig({
 *   manyToAny: [
 *     {
 *       ...{ collection: 'pages', field: 'blocks', link: 'page_blocks', linkField: 'page' },
 *       ...{ collectionField: 'block_type', itemField: 'block', allowed: ['headings', 'images'], sort: 'position' },
 *     },
 *   ],
 * });
 */
export interface ManyToAnyConfig {
  readonly collection: string;
  readonly field: string;
  readonly link: string;
  readonly linkField: string;
  /** Field of the link that names the collection of the item. */
  readonly collectionField: string;
  /** Field of the link that holds the key of the item. */
  readonly itemField: string;
  readonly allowed: readonly string[];
  /** Field of the link that orders its rows. */
  readonly sort?: string;
}

/**
 * Translations: `collection.field` reads the rows of `child`, one per row of `languages`.
 * @example
 * export default defineConfig({
 *   translations: [
 *     { collection: 'articles', field: 'translations', child: 'article_translations', languages: 'languages' },
 *   ],
 * });
 */
export interface TranslationsConfig {
  readonly collection: string;
  readonly field: string;
  readonly child: string;
  readonly languages: string;
}

/**
 * A junction: `near` and `far` are its two many-to-one fields.
 * @example export default defineConfig({ manyToMany: [{ junction: 'article_tags', near: 'article', far: 'tag', name: 'tags' }] });
 */
export interface ManyToManyConfig {
  readonly junction: string;
  readonly near: string;
  readonly far: string;
  /** Name on the collection that `near` points at; derived when absent. */
  readonly name?: string;
  /** Name on the collection that `far` points at; derived when absent. */
  readonly inverseName?: string;
  /** Field of the junction that orders its rows. */
  readonly sort?: string;
}

/**
 * Types the configuration of a project and returns it unchanged.
 * @example export default defineConfig({ collections: { articles: { sort: 'position' } } });
 */
export function defineConfig(config: PlatformConfig): PlatformConfig {
  return config;
}
