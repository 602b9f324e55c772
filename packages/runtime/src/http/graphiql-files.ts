/**
 * The files of GraphiQL, which are other people's and sent as they are: from the packages in this repository, and from the
 * copy that the published package brings (`scripts/build.ts`), so that no server installs what only browsers run.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the page asks for by name, and where its package keeps it. */
export const graphiqlFiles = {
  'react.js': 'react/umd/react.production.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphiql.css': 'graphiql/graphiql.min.css',
} as const;

/** A name that the page asks for. */
export type GraphiqlFile = keyof typeof graphiqlFiles;

const published = fileURLToPath(new URL('../../graphiql/', import.meta.url));

/** Where a file lies. Throws where neither the copy nor the packages are there. */
export function findGraphiqlFile(name: GraphiqlFile): string {
  const copy = join(published, name);
  return existsSync(copy) ? copy : createRequire(import.meta.url).resolve(graphiqlFiles[name]);
}
