/** The documentation page: the OpenAPI document of its reader, to try requests, only with this server. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entityTag, matchesTag } from '../../entity-tag.ts';
import type { Endpoint, Handler } from '../endpoints.ts';
import { mediaTypes, type Responder } from '../responses/answer.ts';

/** The address of the page; its assets lie below. */
const docsPath = '/docs';

/** Scripts and styles are this server's own files, and requests go to this server only. No text becomes markup. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types docs',
].join('; ');

/** The thread that holds the document asks this server for it, and loads nothing. */
const threadPolicy = "default-src 'none'; connect-src 'self'";

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API documentation</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/docs.css">
<script src="docs/docs.js" type="module"></script>
</head>
<body>
<header>
<h1>API documentation</h1>
<form id="caller">
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false">
<button>Use the token</button>
<button type="button" id="session">Use the session of this browser</button>
<button type="button" id="no-caller">Use none</button>
</form>
<p id="status" role="status"></p>
</header>
<div class="columns">
<nav aria-label="Operations">
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off" spellcheck="false">
<p id="found" role="status"></p>
<ul id="index"></ul>
</nav>
<main><p>Loading …</p></main>
</div>
</body>
</html>
`;

/** Folder of the files, beside the scripts of the other pages. */
const folder = new URL('../../../browser/', import.meta.url);

const files = [
  'docs.css',
  'docs.js',
  'docs-document.js',
  'docs-elements.js',
  'docs-index.js',
  'docs-json.js',
  'docs-operation.js',
  'docs-schema.js',
  'docs-try.js',
  'docs-worker.js',
  'elements.js',
  'request.js',
];

/** The address of the page and those of its assets. */
export function docsEndpoints(responder: Responder): readonly Endpoint[] {
  const body = Buffer.from(html);
  const page: Handler = async (httpContext) => {
    responder.send(httpContext, { status: 200, type: mediaTypes.html, policy, body });
  };
  return [
    { url: docsPath, handlers: new Map([['GET', page]]) },
    ...files.map((name) =>
      largeFile(responder, `${docsPath}/${name}`, () => readFile(fileURLToPath(new URL(name, folder))), threadPolicy),
    ),
  ];
}

/** Answers a file, read when first asked for, with its tag. `policy` is for a script that runs as a thread. */
export function largeFile(responder: Responder, url: string, read: () => Promise<Buffer>, policy?: string): Endpoint {
  const type = url.endsWith('.css') ? mediaTypes.css : mediaTypes.script;
  let reading: Promise<{ readonly body: Buffer; readonly tag: string }> | undefined;
  const handler: Handler = async (httpContext) => {
    reading ??= read().then((body) => ({ body, tag: entityTag(body) }));
    const { body, tag } = await reading;
    const sent = httpContext.request.headers['if-none-match'];
    const isUnchanged = sent !== undefined && matchesTag(sent, tag);
    const more = { headers: ['ETag', tag], ...(policy !== undefined && { policy }) };
    responder.send(httpContext, isUnchanged ? { status: 304, ...more } : { status: 200, type, body, ...more });
  };
  return { url, handlers: new Map([['GET', handler]]) };
}

/**
 * Files that the page GraphiQL loads by name: the package of each, and its path there.
 *
 * Files of others that only browsers run, sent as they are. They lie in the packages of this repository, and in the
 * copies that the published package brings (`scripts/build.ts`), so that no server installs them.
 */
export const packagedFiles: Readonly<Record<string, { readonly package: string; readonly path: string }>> = {
  'react.js': { package: 'react', path: 'umd/react.production.min.js' },
  'react-dom.js': { package: 'react-dom', path: 'umd/react-dom.production.min.js' },
  'graphiql.js': { package: 'graphiql', path: 'graphiql.min.js' },
  'graphiql.css': { package: 'graphiql', path: 'graphiql.min.css' },
};

const published = fileURLToPath(new URL('../../../graphiql/', import.meta.url));

/** Path of a file. Throws where neither the copy nor the packages are there. */
export function findPackagedFile(name: string): string {
  const copy = join(published, name);
  return existsSync(copy) ? copy : packagedFile(name);
}

/** Path of a file in the package that it comes from. */
export function packagedFile(name: string): string {
  const file = packagedFiles[name];
  if (file === undefined) throw new Error(`The page has no file "${name}".`);
  return join(dirname(createRequire(import.meta.url).resolve(`${file.package}/package.json`)), file.path);
}
