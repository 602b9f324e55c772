/** Dialects: the only file of the commands that chooses between their folders. */
import type { Family } from '@tablewright/runtime/language';
import type { FamilyCommands } from './commands.ts';
import type { Source } from './source.ts';

/** A family of servers. Its modules are loaded when they are used, because drivers have many files. */
interface FamilySource {
  /** Opens a database; it only writes if `writable` is set. Rejects with advice when out of reach. */
  open(url: string, writable: boolean): Promise<Source>;
  commands(): Promise<FamilyCommands>;
}

/** Texts of the help, which loads no package: an address, and the server of embedded databases. */
export const exampleUrl = 'postgres://user:password@host:5432/database';
export const embeddedTitle = 'PostgreSQL';

export const sources: Readonly<Record<Family, FamilySource>> = {
  postgres: {
    open: async (...options) => (await import('./postgres/source.ts')).openPostgres(...options),
    commands: async () => (await import('./postgres/commands.ts')).postgresCommands,
  },
  mysql: {
    open: async (...options) => (await import('./mysql/source.ts')).openMysql(...options),
    commands: async () => (await import('./mysql/commands.ts')).mysqlCommands,
  },
};

/** Opens the embedded database in a folder, and makes it where there is none. */
export async function openEmbedded(folder: string): Promise<Source> {
  return (await import('./postgres/embedded.ts')).openEmbedded(folder);
}
