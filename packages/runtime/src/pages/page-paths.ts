/** Addresses of the pages for people: mails lead to the first two (API specification, sections 2.6 and 3.3). */

/** The pages by the names of their templates. */
export const pageNames = ['accept-invite', 'reset-password', 'login', 'two-factor'] as const;

/** One of them. */
export type PageName = (typeof pageNames)[number];

/** Addresses of the page that lists the features of a server; for programs there is no such route. */
export const homePaths = ['/', '/admin'] as const;

/** The path of a page. */
export function pagePath(name: PageName): string {
  return `/admin/${name}`;
}

/** All of them. */
export const pagePaths: readonly string[] = pageNames.map(pagePath);

/** Features of a server that have pages. */
export interface Paged {
  readonly docs: boolean;
  readonly graphiql: boolean;
  readonly accounts: boolean;
}

/** Paths of the pages that people begin with. */
export function startPaths({ docs, graphiql, accounts }: Paged): readonly string[] {
  return ['/', ...(docs ? ['/docs'] : []), ...(graphiql ? ['/graphql'] : []), ...(accounts ? [pagePath('login')] : [])];
}

/** Path of the assets of pages. */
export const assetsPath = '/admin/assets';
