/**
 * GraphiQL: a page to ask from, for browsers that open `/graphql` or `/graphql/system`. It loads nothing from anywhere else,
 * and asks no other server than the one that it came from.
 */
import { readFile } from 'node:fs/promises';
import type { Endpoint, Handler } from '../endpoints.ts';
import { largeFile } from '../pages/docs.ts';
import { findPackagedFile, packagedFiles } from '../pages/packaged-files.ts';
import { mediaTypes, type Responder } from '../responses/answer.ts';

/** The page and its files. */
interface Graphiql {
  readonly page: Handler;
  readonly endpoints: readonly Endpoint[];
}

const folder = '/graphql/graphiql';

/**
 * Scripts and styles are this server's own files, so that nothing a document or an answer says is run; requests go to this
 * server only. Fonts and pictures lie in the style sheet.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/graphiql.css">
<link rel="stylesheet" href="${folder}/page.css">
</head>
<body>
<div id="graphiql"><p>Loading …</p></div>
<script src="${folder}/react.js"></script>
<script src="${folder}/react-dom.js"></script>
<script src="${folder}/graphiql.js"></script>
<script src="${folder}/page.js"></script>
</body>
</html>
`;

const css = `html, body { margin: 0; height: 100%; }
#graphiql { height: 100vh; }
#graphiql > p { margin: 1rem; font-family: sans-serif; }
`;

const source = `'use strict';
const fetcher = GraphiQL.createFetcher({ url: location.pathname });
const query = new URLSearchParams(location.search).get('query') ?? undefined;
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, { fetcher, query, defaultEditorToolsVisibility: true }),
);
`;

const assets: Readonly<Record<string, Buffer>> = { 'page.css': Buffer.from(css), 'page.js': Buffer.from(source) };

/** Makes the page of a server. */
export function createGraphiql(responder: Responder): Graphiql {
  const body = Buffer.from(html);
  return {
    async page(httpContext) {
      const headers = ['Vary', 'Accept'];
      responder.send(httpContext, { status: 200, type: mediaTypes.html, policy, headers, body });
    },
    endpoints: [
      ...Object.keys(packagedFiles).map((name) =>
        largeFile(responder, `${folder}/${name}`, () => readFile(findPackagedFile(name))),
      ),
      ...Object.entries(assets).map(([name, text]) => largeFile(responder, `${folder}/${name}`, async () => text)),
    ],
  };
}
