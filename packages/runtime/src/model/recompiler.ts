/** Interface by which a server gets further generations of its API: the compiler itself is no part of the runtime. */
import { hash } from 'node:crypto';
import type { CompiledApi } from '../language/index.ts';
import type { TableDraft } from './model-sql.ts';

type Rows = readonly (readonly (string | null)[])[];

/** Rows of the platform's own tables of which the API is compiled. */
export interface ModelRows {
  /** Roles and rules as `roleRowsSql` and `permissionRowsSql` read them; none where a file holds them. */
  readonly roles: Rows;
  readonly rules: Rows;
  /** Metadata of the model, as `modelRowsSql` reads it. */
  readonly model: Rows;
}

/** Digests of rows, as in `CompiledApi`; undefined where it has none. */
export interface ModelDigests {
  readonly permissions: string | undefined;
  readonly model: string | undefined;
}

/** Runs one statement and gives its rows as texts. */
export type RunTexts = (text: string, parameters: readonly (string | null)[]) => Promise<Rows>;

/** The next generation, or the reasons why there is none, as sentences for the author of the rows. */
export type Recompiled = { readonly api: CompiledApi } | { readonly problems: readonly string[] };

/** Further options, for databases that cannot undo changes of tables. */
export interface RecompileOptions {
  /** Tables that stand for others while a change is tried. */
  readonly drafts?: readonly TableDraft[];
  /** Earlier result for the same rows, returned again where the tables have not changed since. */
  readonly unless?: CompiledApi;
  /** The API that is served: names of relations are kept as it has them. */
  readonly served?: CompiledApi;
}

/** Compiles beside the thread that serves. */
export interface Recompiler {
  /** True if roles and rules are read from the tables. */
  readonly permissions: boolean;
  /** The schema that new tables lie in. */
  readonly schema: string;
  digests(rows: ModelRows): ModelDigests;
  /**
   * Compiles them over the tables of an API that was generated or that this recompiler has returned. For null or any
   * other API it reads the tables of the database. `read` is called when nothing more is
   * read. Rejects when the compiler cannot be used at all.
   */
  compile(
    rows: ModelRows,
    run: RunTexts,
    over: CompiledApi | null,
    read: () => Promise<void>,
    more?: RecompileOptions,
  ): Promise<Recompiled>;
  migrationNames(): Promise<readonly string[]>;
  /** Writes what is served into the project: its schema, and migrations that it lacks. */
  keep(api: CompiledApi, migrations: readonly ProjectMigration[]): Promise<void>;
  /** Ends what runs beside this thread. */
  close(): Promise<void>;
}

/** A migration of a project. */
export interface ProjectMigration {
  /** Name of its file without the ending: `0007-add-articles-title`. */
  readonly name: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly checksum: string;
  readonly script: string;
}

/** Characters of a title in a name. */
const longestTitle = 80;

/** Makes the migration of a change; `names` are those of all migrations, in the database and the project. */
export function migrationOf(title: string, statements: readonly string[], names: readonly string[]): ProjectMigration {
  const slug = title.replaceAll(/[^A-Za-z0-9_]+/g, '-').slice(0, longestTitle);
  // Names of columns may have line breaks, after which the rest of the comment would be SQL.
  const comment = `-- Made by a request to change the model: ${title.replaceAll(/\s+/g, ' ')}.`;
  const source = `${comment}\n${statements.map((sql) => `${sql};\n`).join('\n')}`;
  return { name: `${nextNumber(names)}-${slug}`, checksum: migrationChecksum(source), script: source };
}

/** Begins a name that comes after all others in their order: `0008`, after `012_stock` it is `013`. */
function nextNumber(names: readonly string[]): string {
  const last = names.toSorted().at(-1) ?? '0000';
  const [, head = '', digits = ''] = /^(.*?)(\d*)(?:[-_ .]|$)/.exec(last) ?? [];
  const next = `${head}${String(BigInt(digits) + 1n).padStart(digits.length, '0')}`;
  return digits !== '' && next > last ? next : `${head}${digits}z0001`;
}

/** Checksum that a database keeps of the text of a migration. */
export function migrationChecksum(sql: string): string {
  return hash('sha256', sql);
}
