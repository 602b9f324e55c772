/** Notes for readers of several classes: what each of them may see is known beforehand. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { withClient } from '../support/postgres.ts';
import { installSystem } from '../support/system.ts';

/** Classes of callers, and notes by their audience that each may read. */
export const audiences = { public: ['all'], reader: ['all', 'reader'], editor: ['all', 'reader', 'editor'] } as const;

/** Class of callers. */
export type CallerClass = keyof typeof audiences;

/** Notes that there are. */
export const noteCount = 60;

/** Audience of a note by its key. */
export function audienceOf(id: number): string {
  return audiences.editor[id % 3] ?? 'all';
}

/** Static token of a class. */
export function tokenOf(name: CallerClass): string {
  return `token-of-${name}-00000000000000`;
}

/** A project of notes that is generated. */
export interface NotesProject {
  start(environment: Readonly<Record<string, string>>): Promise<Platform>;
  remove(): Promise<void>;
}

const permissions = `roles: { reader: {}, editor: {} }
permissions:
  public:
    notes: { read: { fields: [id, audience, version], filter: { audience: { _eq: all } } } }
    comments: { read: { fields: [id, note] } }
  reader:
    notes: { read: { fields: [id, audience, version], filter: { audience: { _in: [all, reader] } } } }
    comments: { read: { fields: [id, note] } }
  editor:
    notes: { read: true, update: true, create: true }
    comments: { read: true }
`;

/** Makes the tables in the database of a server, and generates the API. */
export async function createNotes(url: string): Promise<NotesProject> {
  await installSystem(url);
  const rows = Array.from({ length: noteCount }, (_, id) => `(${id}, '${audienceOf(id)}', 0)`).join();
  await withClient(url, async (client) => {
    await client.query(`CREATE TABLE notes (id integer PRIMARY KEY, audience text NOT NULL, version integer NOT NULL);
      CREATE TABLE comments (id integer PRIMARY KEY, note integer REFERENCES notes);
      CREATE FUNCTION slow() RETURNS integer LANGUAGE sql AS $$ SELECT pg_sleep(3); SELECT 1 $$;
      INSERT INTO notes VALUES ${rows}; INSERT INTO comments SELECT id, id FROM notes`);
    for (const [index, name] of (['reader', 'editor'] as const).entries()) {
      const key = `00000000-0000-4000-8000-0000000000a${index}`;
      await client.query(`INSERT INTO platform.platform_roles (id, name) VALUES ('${key}', '${name}');
        INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${key}', '${name}@example.com', '${key}', '${tokenOf(name)}')`);
    }
  });
  const project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), permissions);
  await writeFile(
    join(project.folder, 'platform.config.ts'),
    `import { defineConfig } from 'tablewright/config';
export default defineConfig({
  collections: { notes: { cache: { public: '60s' } }, comments: { cache: { public: '60s' } } },
  functions: { slow: {} },
});`,
  );
  const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
  return {
    start: (environment) => startUnchecked(project.folder, url, environment, []),
    remove: project.remove,
  };
}
