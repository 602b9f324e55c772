/** Names of client packages, with `{class}` for the access class, and the place that says so. */
export interface ClientPackages {
  readonly name: string;
  /** Such as `platform.config.ts: client.packageName`. */
  readonly place: string;
}

/** The default name of client packages, in a project without a name of its own. */
export const defaultPackages = 'platform-client-{class}';

/** The name of the client package of an access class, such as `shop-client-editor`. npm takes lower case only. */
export function clientName(packages: string, accessClass: string): string {
  return packages.replaceAll('{class}', accessClass.toLowerCase());
}
