/** The API to print: every exposed collection under its names, made by `passes/`. Printing takes no decisions. */
import type { Collection, ForeignKey, GraphqlEnum, Schema } from '@tablewright/introspect/schema';
import type {
  AccessClass,
  CachedTables,
  CollectionDescriptor,
  CustomRoute,
  FieldDescriptor,
  Fingerprint,
  FunctionDescriptor,
  JsonValue,
  PortableType,
  RelationDescriptor,
} from '@tablewright/runtime/language';

/** Everything the compiler prints. */
export interface Api extends Pick<Schema, 'dialect' | 'permissionsDigest' | 'graphqlEnums' | 'rowSecurity' | 'model'> {
  /** False where the configuration wants no GraphQL API. */
  readonly graphql: boolean;
  /** Set where GraphQL pages through lists by connections. */
  readonly connections?: true;
  /** Enum types of the database, by name. Default: none. */
  readonly enums?: readonly ApiEnum[];
  /** Absent where no collection lets shared caches keep answers. */
  readonly caching?: CachedTables;
  /** Sorted by name. */
  readonly collections: readonly ApiCollection[];
  /** `admin` and `public` first, the others sorted by name. */
  readonly access: readonly ApiAccess[];
  /** Functions and procedures of the database, sorted by name. Default: none. */
  readonly functions?: readonly ApiFunction[];
  /** Routes of the project's own code, by path and method; none before their types are read. */
  readonly customRoutes: readonly CustomRoute[];
  /** Collections whose new items pass by hooks of the project, which may fill what a payload leaves out. Default: none. */
  readonly hooked?: readonly string[];
  /** Recorded requests and responses for the documents to show. Default: the examples that fit every project. */
  readonly examples?: Examples;
  /** Names of client packages, with `{class}` for the access class. Default: `platform-client-{class}`. */
  readonly clientPackages?: string;
  readonly fingerprint: Fingerprint;
}

/** One collection: the facts that generated code states, and what is only printed beside them. */
export interface ApiCollection {
  readonly descriptor: CollectionDescriptor;
  readonly names: CollectionNames;
  /** Source of the rows: `table public.articles`, `view public.article_stats`. */
  readonly source: string;
  readonly stored: StoredTable;
  /** The note of the configuration, else the database's comment. */
  readonly note: string | null;
  /** Reason why it should not be used any more. Default: it may. */
  readonly deprecated?: string;
  /**
   * Operations of the collection; none for the platform's own collections. Reads and writes by key need a key; a
   * singleton has `readSingleton` and `updateSingleton` instead of all but `search`. Writes need a key and a database
   * that allows them.
   */
  readonly operations: readonly Operation[];
  /** Fields in the order of `descriptor.fields`. */
  readonly fields: readonly ApiField[];
  /** Relations in the order of `descriptor.relations`. */
  readonly relations: readonly ApiRelation[];
  /** Set on a link collection of a many-to-any: the field that holds a key, and the collections it may be one of. */
  readonly anyItem: { readonly field: string; readonly targets: readonly CollectionNames[] } | null;
}

/** A function or procedure of the database. */
export interface ApiFunction {
  readonly descriptor: FunctionDescriptor;
  /** The database's comment. */
  readonly note: string | null;
  /** `function public.nearest_shops(double precision, double precision)` */
  readonly source: string;
  /** GraphQL enums of its arguments and of members of its result, by their names. Default: none. */
  readonly graphqlEnums?: readonly MemberEnum[];
}

/** GraphQL enum of an argument of a function, or of a member of its result. */
export interface MemberEnum {
  readonly part: 'argument' | 'result';
  readonly name: string;
  readonly type: GraphqlEnum;
}

export interface ApiEnum {
  /** `ArticleStatus`: its name in generated types. */
  readonly name: string;
  /** `public.article_status` */
  readonly source: string;
  readonly labels: readonly string[];
}

/** One operation on a collection, and the one route that leads to it. */
export type Operation =
  | { readonly kind: 'list'; readonly method: 'GET'; readonly path: string }
  | { readonly kind: 'search'; readonly method: 'SEARCH'; readonly path: string }
  | { readonly kind: 'read'; readonly method: 'GET'; readonly path: string }
  | { readonly kind: 'readSingleton'; readonly method: 'GET'; readonly path: string }
  | { readonly kind: 'create'; readonly method: 'POST'; readonly path: string }
  | { readonly kind: 'update'; readonly method: 'PATCH'; readonly path: string }
  | { readonly kind: 'updateMany'; readonly method: 'PATCH'; readonly path: string }
  | { readonly kind: 'updateSingleton'; readonly method: 'PATCH'; readonly path: string }
  | { readonly kind: 'delete'; readonly method: 'DELETE'; readonly path: string }
  | { readonly kind: 'deleteMany'; readonly method: 'DELETE'; readonly path: string };

/** A column-backed field. */
export interface ApiField {
  readonly descriptor: FieldDescriptor;
  readonly stored: StoredColumn;
  /** The note of the configuration, else the database's comment. */
  readonly note: string | null;
  /** Reason why it should not be used any more. Default: it may. */
  readonly deprecated?: string;
  /** Must be present when an item is created. */
  readonly required: boolean;
  /** Place in the key, counted from 0; null for other fields. */
  readonly keyPosition: number | null;
  /** The database's default as SQL text, for documentation. */
  readonly defaultText: string | null;
  /** Allowed values of the field, or of the elements of an array; null when the database does not list them. */
  readonly values: readonly string[] | null;
  /** Name of the type alias that lists the allowed values: `ArticlesStatusValue`; null when there is no list. */
  readonly valuesType: string | null;
  /** The enum type that the alias stands for, which others may have too; null where it is the field's own. */
  readonly enumType: ApiEnum | null;
  /** The enum that it is in GraphQL; null where it is something else. */
  readonly graphqlEnum: GraphqlEnum | null;
  /** Name of the many-to-one relation that reads through this field (the same as the field's), else null. */
  readonly relation: string | null;
}

/** A relation with the collection it reads resolved. */
export interface ApiRelation {
  readonly descriptor: RelationDescriptor;
  /** Names of the target collection's types. */
  readonly target: CollectionNames;
  /** The foreign key of a many-to-one; null where there is none, and for every other kind. */
  readonly stored: StoredKey | null;
  /** Set on a many-to-one whose key can lead to no item, for every role: to one archived, hidden by policies, or missing. */
  readonly dangling?: true;
  /** Reason why it should not be used any more. Default: it may. */
  readonly deprecated?: string;
}

/** A table or view as the database has it. */
export interface StoredTable extends Pick<Collection, 'archive'> {
  readonly name: string;
  readonly schema: string;
  readonly comment: string | null;
  readonly kind: 'table' | 'view';
}

export interface StoredColumn {
  readonly name: string;
  /** The type without modifiers: `character varying`. */
  readonly dataType: string;
  readonly type: PortableType;
  /** A constant, or an expression that the database computes; null where there is neither. */
  readonly default: { readonly value: JsonValue } | { readonly expression: string } | null;
  readonly maxLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly nullable: boolean;
  /** True if it is unique by itself. */
  readonly unique: boolean;
  readonly generated: boolean;
  /** True if the database numbers the rows. */
  readonly numbered: boolean;
  readonly comment: string | null;
}

/** A foreign key as the database has it. */
export interface StoredKey extends Pick<ForeignKey, 'name' | 'columns' | 'targetColumns' | 'onUpdate' | 'onDelete'> {
  readonly table: string;
  readonly targetTable: string;
}

/** Names of one collection in generated code. All are valid identifiers, unique within their file. */
export interface CollectionNames {
  /** API name. */
  readonly collection: string;
  /** File name without folder and extension, unique also where case does not count: `order_lines`. */
  readonly file: string;
  /** The descriptor constant: `orderLines`. */
  readonly constant: string;
  /** The constant that lists the routes: `orderLinesRoutes`. */
  readonly routes: string;
  /** `OrderLinesItem` */
  readonly item: string;
  /** `OrderLinesKey` */
  readonly key: string;
  /** `OrderLinesCreate` */
  readonly create: string;
  /** `OrderLinesUpdate` */
  readonly update: string;
  /** `OrderLinesFilter` */
  readonly filter: string;
}

/** An access class with its names in generated code. */
export interface ApiAccess {
  /** `access.name` is also the name of its files: letters, digits, `_` and `-` only. */
  readonly access: AccessClass;
  /** `editorAccess` */
  readonly constant: string;
}

/** A request that was sent once, and what it was answered. */
export interface Example {
  /** Method and address as they were sent, without tokens: `GET /items/articles?limit=2`. */
  readonly request: string;
  /** JSON that was sent. Default: none. */
  readonly body?: JsonValue;
  /** Status of the response; 200 to 299. */
  readonly status: number;
  /** JSON that was answered. Default: none. */
  readonly answer?: JsonValue;
}

/** Examples of the operations of a document, by their `operationId`. */
export type OperationExamples = Readonly<Record<string, readonly Example[]>>;

/** Examples of each access class, by its name: one class may not see those of another. */
export type Examples = Readonly<Record<string, OperationExamples>>;
