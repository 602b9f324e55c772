import { type CachedTables, contract, type JsonValue, type RowSecurity } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import { hashObject } from '../passes/fingerprint.ts';
import { code, createKept, printOpen, printValue } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { printJson } from '../print/json.ts';
import { productVersion } from '../print/libraries.ts';
import { widthOf } from '../print/text.ts';
import { hasRoutes } from './routes.ts';
import type { Render } from './templates.ts';

export function emitFunctions({ functions = [] }: Api, render: Render): string {
  const start = 'export const functions = ';
  return render('functions', {
    about: 'Functions and procedures of the database.',
    functions: printValue(
      functions.map(({ descriptor }) => descriptor),
      widthOf(start),
      1,
      0,
    ),
  });
}

/** Parts of a server beyond those that every server has. */
interface ServerParts {
  readonly extended: boolean;
  readonly documented: boolean;
}

/** Prints the file that gathers everything into one compiled API. */
export function emitServer(api: Api, { extended, documented }: ServerParts, render: Render): string {
  const { collections, access } = api;
  const imports = printImports([
    {
      from: '@tablewright/runtime',
      names: [
        'compiledApi',
        ...(documented ? ['graphqlDocuments'] : []),
        ...(api.graphql ? ['graphqlFiles'] : []),
        ...(documented ? ['graphqlOperations'] : []),
        'modelFiles',
        'openapiFiles',
      ],
    },
    { from: './fingerprint.js', names: ['fingerprint'] },
    ...(api.functions ? [{ from: './functions.js', names: ['functions'] }] : []),
    ...(extended ? [{ from: './extensions.js', names: ['customRoutes', 'extensions'] }] : []),
    ...access.map((granted) => ({ from: `./access/${granted.access.name}.js`, names: [granted.constant] })),
    ...collections.map((collection) => ({
      from: `./routes/${collection.names.file}.js`,
      names: hasRoutes(collection) ? [collection.names.constant, collection.names.routes] : [collection.names.constant],
    })),
  ]);
  return render('server', {
    about: 'Everything that was compiled, in one place.',
    imports,
    contract,
    dialect: api.dialect,
    graphql: lines(
      ...(api.graphql ? ["graphql: graphqlFiles(new URL('./graphql/', import.meta.url)),"] : []),
      ...(documented
        ? [
            "graphqlDocuments: graphqlDocuments(new URL('./graphql/documents.json', import.meta.url)),",
            "graphqlOperations: graphqlOperations(new URL('./graphql/operations.json', import.meta.url)),",
          ]
        : []),
    ),
    permissions: digest('permissionsDigest', api.permissionsDigest) + digest('modelDigest', api.model?.digest),
    rowSecurity: property('rowSecurity', api.rowSecurity) + property('caching', api.caching),
    extensions: lines(...(api.functions ? ['functions,'] : []), ...(extended ? ['extensions,', 'customRoutes,'] : [])),
    collections: list(
      'collections',
      collections.map(({ names }) => names.constant),
    ),
    access: list(
      'access',
      access.map(({ constant }) => constant),
    ),
    routes: list(
      'routes',
      collections.filter(hasRoutes).map(({ names }) => `...${names.routes}`),
    ),
  });
}

function digest(name: string, value: string | undefined): string {
  return value === undefined ? '' : `\n  ${name}: ${printValue(value, 0, 0, 0)},`;
}

function property(name: string, value: RowSecurity | CachedTables | undefined): string {
  return value === undefined ? '' : `\n  ${name}: ${printValue({ ...value }, name.length + 4, 1, 2)},`;
}

/** Prints the types of this file, for code of the project that serves the API itself. */
export function emitServerTypes(render: Render): string {
  return render('serverTypes', { about: 'Everything that was compiled, in one place.' });
}

/** Prints the file that a process starts with. */
export function emitMain(render: Render): string {
  return render('main', { about: 'Serves the compiled API; see `platform start --help` for its environment.' });
}

/** Prints the file that states what the database must look like. */
export function emitFingerprint({ fingerprint: { hash, objects } }: Api, render: Render): string {
  return render('fingerprint', {
    about: 'Every database object in use. The server compares it with the database at start and while it runs.',
    fingerprint: printOpen({ hash, objects: objects.map(keptObject) }, 0),
  });
}

const keptObject = createKept<Api['fingerprint']['objects'][number]>((object) => object);

function list(name: string, constants: readonly string[]): string {
  return printValue(constants.map(code), name.length + 4, 1, 2);
}

function lines(...properties: readonly string[]): string {
  return properties.map((property) => `\n  ${property}`).join('');
}

/**
 * Prints `manifest.json`: by which version and for which contract the files were made, and from what. The command adds
 * the files with their digests when it writes them.
 *
 * Routes of the project are there for makers of clients, which know them by their types only.
 *
 * Each object's hash is over its part of the fingerprint, which `fingerprint.js` holds in full.
 */
export function emitManifest(
  { fingerprint, customRoutes }: Api,
  sources: Readonly<Record<string, string>> = {},
): string {
  const objects = fingerprint.objects.map((object) => ({
    schema: object.schema,
    name: object.name,
    kind: object.kind,
    hash: hashObject(object),
  }));
  const routes: JsonValue = JSON.parse(JSON.stringify(customRoutes));
  return printJson({
    tablewright: productVersion,
    contract,
    fingerprint: fingerprint.hash,
    ...(Object.keys(sources).length > 0 && { sources }),
    objects,
    ...(customRoutes.length > 0 && { routes }),
  });
}
