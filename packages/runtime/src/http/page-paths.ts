/** Addresses of the pages for people: mails lead to the first two (API specification, sections 2.6 and 3.3). */

/** The pages by the names of their templates. */
export const pageNames = ['accept-invite', 'reset-password', 'login', 'two-factor'] as const;

/** One of them. */
export type PageName = (typeof pageNames)[number];

/** The path of a page. */
export function pagePath(name: PageName): string {
  return `/admin/${name}`;
}

/** All of them. */
export const pagePaths: readonly string[] = pageNames.map(pagePath);

/** Below this lies what pages load. */
export const assetsPath = '/admin/assets';
