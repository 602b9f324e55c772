/** Pages for people, with their assets, at the addresses that mails lead to. */
import type { ReadAccountSettings } from '../../auth/settings.ts';
import { entityTag, matchesTag } from '../../entity-tag.ts';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import {
  assetsPath,
  homePaths,
  loadPageTemplates,
  type PageTemplates,
  type PageView,
  pageNames,
  pagePath,
  readScripts,
  type TemplateName,
} from '../../pages/pages.ts';
import { productName } from '../../version.ts';
import { readAccept } from '../graphql/graphql-request.ts';
import { type HttpContext, type MediaType, mediaTypes, type Responder } from '../responses/answer.ts';

export interface PageEndpointsOptions {
  /** Folder of templates that replace the platform's own of the same name; null: none. */
  readonly templates: string | null;
  /** Null where there are no accounts, and so no pages but the first. */
  readonly settings: ReadAccountSettings | null;
  readonly responder: Responder;
  readonly environment: Environment;
}

interface GetEndpoint {
  readonly url: string;
  readonly get: (httpContext: HttpContext) => Promise<void>;
}

/**
 * A page loads its own style, icon and scripts and asks its own server, and nothing else. It has no script or style in
 * its text, and no form that is sent without a script. No script makes markup of text, and no frame is around it.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders = ['Cross-Origin-Opener-Policy', 'same-origin', 'Cross-Origin-Resource-Policy', 'same-origin'];

/** Makes the endpoints. Throws `TemplateError` for templates that cannot be used. */
export function createPageEndpoints(options: PageEndpointsOptions): readonly GetEndpoint[] {
  const { responder, settings } = options;
  const templates = loadPageTemplates(options.templates);
  const assets: readonly (readonly [name: string, type: MediaType, text: string])[] = [
    ['style.css', mediaTypes.css, templates.style],
    ['icon.svg', mediaTypes.svg, templates.icon],
    ...[...(settings === null ? [] : readScripts())].map(([name, text]) => [name, mediaTypes.script, text] as const),
  ];
  const pages = settings === null ? [] : pageNames;
  return [
    ...homePaths.map((url) => ({ url, get: homeHandler(options, templates) })),
    ...pages.map((name) => ({ url: pagePath(name), get: pageHandler(options, templates, name) })),
    ...assets.map(([name, type, text]) => ({ url: `${assetsPath}/${name}`, get: assetHandler(responder, type, text) })),
  ];
}

function pageHandler(options: PageEndpointsOptions, templates: PageTemplates, name: TemplateName): GetEndpoint['get'] {
  const view = createViewReader(options);
  return async function sendPage(httpContext) {
    const body = Buffer.from(templates.print(name, await view()));
    options.responder.send(httpContext, { status: 200, type: mediaTypes.html, body, headers: pageHeaders, policy });
  };
}

/** Page that lists the features of a server to browsers. Without a database it has no name. */
function homeHandler(options: PageEndpointsOptions, templates: PageTemplates): GetEndpoint['get'] {
  const { responder } = options;
  const view = createViewReader(options);
  const unnamed = createViewReader({ ...options, settings: null });
  return async function sendHome(httpContext) {
    const headers = ['Vary', 'Accept'];
    if (!readAccept(httpContext.request.headers.accept).page) {
      responder.fail(httpContext, new PlatformError('ROUTE_NOT_FOUND'), headers);
      return;
    }
    const body = Buffer.from(templates.print('home', await view().catch(unnamed)));
    const all = [...pageHeaders, ...headers];
    responder.send(httpContext, { status: 200, type: mediaTypes.html, body, headers: all, policy });
  };
}

function createViewReader({ settings, environment }: PageEndpointsOptions): () => Promise<PageView> {
  const { docs, graphql, auth } = environment;
  const { passwordMinLength, disableDefault } = auth;
  const has = { docs, graphiql: graphql.graphiql, accounts: settings !== null, passwords: !disableDefault };
  return async () => ({ project: (await settings?.())?.projectName ?? productName, passwordMinLength, ...has });
}

/** Asset that never changes while a server runs: a repeated request is answered as unchanged. */
function assetHandler(responder: Responder, type: MediaType, text: string): GetEndpoint['get'] {
  const body = Buffer.from(text);
  const tag = entityTag(body);
  const headers = ['ETag', tag, 'Cross-Origin-Resource-Policy', 'same-origin'];
  return async function sendAsset(httpContext) {
    const unchanged = matchesTag(httpContext.request.headers['if-none-match'] ?? '', tag);
    responder.send(httpContext, unchanged ? { status: 304, headers } : { status: 200, type, body, headers });
  };
}
