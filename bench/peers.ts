/**
 * Makes the compiled server a target of a bench against other products that drives all of them over one database with
 * the tables `articles`, `authors`, `comments`, `tags` and `article_tags`:
 *
 * `DATABASE_URL=… node bench/peers.ts TARGET_FILE [PORT]`
 *
 * compiles that database into `.tmp/peers` and writes the target: how to start the server, and the request of every
 * scenario it takes part in, with `{{id}}`, `{{off}}` and `{{author}}` where the driver fills in values.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runPlatform } from '../test/support/platform.ts';

const [file, port = '19190'] = process.argv.slice(2);
const databaseUrl = process.env.DATABASE_URL ?? '';
const repository = join(import.meta.dirname, '..');
const folder = join(repository, '.tmp', 'peers');

/** The column `articles.tags` has the name that the relation would have. */
const config = `import { defineConfig } from 'tablewright/config';

export default defineConfig({
  manyToMany: [{ junction: 'article_tags', near: 'article_id', far: 'tag_id', name: 'tag_list' }],
});
`;

const permissions = `permissions:
  public:
    articles: { read: true }
    article_tags: { read: true }
    authors: { read: true }
    comments: { read: true }
    tags: { read: true }
`;

const newest = 'filter[status][_eq]=published&sort=-published_at,-id';
const requests = {
  S1: {
    path: '/items/articles/{{id}}?fields=id,author_id,title,slug,body,status,published_at,updated_at,views,tags',
  },
  S2: {
    path: `/items/articles?fields=id,title,slug,status,published_at,views,author_id,updated_at&${newest}&limit=100&offset={{off}}`,
  },
  S3: {
    path: `/items/articles?fields=id,title,published_at,author_id.id,author_id.name,comments.id,comments.body,comments.created_at,comments.author_id.id,comments.author_id.name,tag_list.id,tag_list.name&${newest}&limit=20&offset={{off}}&deep[comments][_limit]=5&deep[comments][_sort]=-created_at,-id`,
  },
  S7: {
    path: '/items/articles?aggregate[count]=*&filter[author_id][_eq]={{author}}&filter[status][_eq]=published',
  },
};

await main();

async function main(): Promise<void> {
  if (file === undefined || databaseUrl === '') {
    process.stderr.write('Usage: DATABASE_URL=… node bench/peers.ts TARGET_FILE [PORT]\n');
    process.exitCode = 2;
    return;
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'platform.config.ts'), config);
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const { code, stderr } = await runPlatform(['generate', '--project', folder], { DATABASE_URL: databaseUrl });
  if (code !== 0) throw new Error(stderr);
  const command = join(repository, 'packages', 'cli', 'src', 'main.ts');
  const target = {
    name: 'platform',
    label: 'compiled by platform',
    port: Number(port),
    start: {
      cmd: [process.execPath, command, 'start', '--project', folder],
      env: { DATABASE_URL: databaseUrl, PORT: port, LOG_LEVEL: 'error' },
    },
    requests,
  };
  await writeFile(file, `${JSON.stringify(target, null, 2)}\n`);
}
