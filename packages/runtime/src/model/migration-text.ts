/** Changes of the model as migrations that other databases can have, too. */
import { hash } from 'node:crypto';

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

/**
 * Makes the migration of a change of its statements; `names` are those of all that there are, in the database and the
 * project.
 */
export function migrationOf(title: string, statements: readonly string[], names: readonly string[]): ProjectMigration {
  const latest = Math.max(0, ...names.map((name) => Number.parseInt(name, 10)).filter(Number.isSafeInteger));
  const slug = title.replaceAll(/[^A-Za-z0-9_]+/g, '-').slice(0, longestTitle);
  const source = `-- Made by a request to change the model: ${title}.\n${statements.map((sql) => `${sql};\n`).join('\n')}`;
  return {
    name: `${String(latest + 1).padStart(4, '0')}-${slug}`,
    checksum: migrationChecksum(source),
    script: source,
  };
}

/** Checksum that a database keeps of the text of a migration. */
export function migrationChecksum(sql: string): string {
  return hash('sha256', sql);
}
