/** Exports of @directus/sdk that no endpoint of this API stands behind. */

/** Parts of the library itself. */
export const tools: ReadonlySet<string> = new Set([
  ...[
    'auth',
    'authentication',
    'createDirectus',
    'customEndpoint',
    'default',
    'formatFields',
    'generateUid',
    'getAuthEndpoint',
  ],
  ...[
    'graphql',
    'isDirectusError',
    'memoryStorage',
    'messageCallback',
    'pong',
    'queryToParams',
    'realtime',
    'rest',
    'sleep',
  ],
  ...['staticToken', 'throwIfCoreCollection', 'throwIfEmpty', 'withOptions', 'withSearch', 'withToken'],
]);

/** Resources that the API specification, section 10, does not have, and the routes of section 12 and 13 that it leaves out. */
const resources =
  /ContentVersion|Dashboard|Deployment|Extension|Flow|Notification|Operation|Panel|Polic|Registry|Share|Translation|^schema|Permissions$|registerUser|^download|RolesMe$|ImportBatch$/;

/** True for a command without an endpoint. */
export function isElsewhere(name: string): boolean {
  return resources.test(name) && !/^(read|create|update|delete)Permissions?(Batch)?$/.test(name);
}
