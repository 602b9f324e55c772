/**
 * The documentation page: the OpenAPI document of whoever looks at it, to read and to try requests. It loads nothing from
 * anywhere else, and asks no other server than the one that it came from.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Answerer, mediaTypes } from './answer.ts';
import type { Endpoint, Handler } from './endpoints.ts';
import { largeFile } from './large-files.ts';
import { findPackagedFile, packagedFiles } from './packaged-files.ts';

/** The address of the page; what it loads lies below. */
export const docsPath = '/docs';

/** Scripts and styles are this server's own files, and requests go to this server only. Pictures lie in the style sheet. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
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
<title>API documentation</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<header>
<form id="caller">
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false">
<button>Use the token</button>
<button type="button" id="session">Use the session of this browser</button>
<button type="button" id="nobody">Use none</button>
</form>
<p id="status" role="status"></p>
</header>
<main id="docs"><p>Loading …</p></main>
<script src="docs/swagger-ui.js"></script>
<script src="docs/page.js" type="module"></script>
</body>
</html>
`;

const css = `body { margin: 0; font-family: sans-serif; }
header { background: #1b1f24; color: #fff; padding: 0.6rem 1rem; }
header form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
header input { flex: 0 1 22rem; font: inherit; padding: 0.25rem 0.5rem; }
header button { font: inherit; padding: 0.25rem 0.6rem; }
header p { margin: 0.4rem 0 0; min-height: 1.2em; }
main > p { margin: 1rem; }
`;

/** Lies beside the scripts of the other pages. */
const script = fileURLToPath(new URL('../../browser/docs.js', import.meta.url));

/** The address of the page and of what it loads. */
export function docsEndpoints(answerer: Answerer): readonly Endpoint[] {
  const body = Buffer.from(html);
  const page: Handler = async (exchange) => {
    answerer.send(exchange, { status: 200, type: mediaTypes.html, policy, body });
  };
  const style = Buffer.from(css);
  return [
    { url: docsPath, handlers: new Map([['GET', page]]) },
    ...Object.keys(packagedFiles.docs).map((name) =>
      largeFile(answerer, `${docsPath}/${name}`, () => readFile(findPackagedFile('docs', name))),
    ),
    largeFile(answerer, `${docsPath}/page.css`, async () => style),
    largeFile(answerer, `${docsPath}/page.js`, () => readFile(script)),
  ];
}
