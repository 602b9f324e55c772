/**
 * Places where the files of a role differ between two versions. Only collections that the versions do not share are
 * printed: files follow from the role's view, which is one object where it is the same.
 */
import { emitClient } from '../client/index.ts';
import type { Render } from '../emit/templates.ts';
import { graphqlTypes } from '../graphql/index.ts';
import { describeOpenApi } from '../openapi/index.ts';
import { canonicalJson } from '../print/json.ts';
import type { RoleCollection } from '../role-view/role-view.ts';
import type { ApiSurface } from './severity.ts';
import type { Side } from './side.ts';

/** The surfaces whose documents, schemas or types are not the same; `rest` is never among them. */
export function differingSurfaces(was: Side, is: Side): ReadonlySet<ApiSurface> {
  const common = commonViews(was, is);
  const differs: Readonly<Record<Exclude<ApiSurface, 'rest'>, boolean>> = {
    openapi: documentOf(was, common) !== documentOf(is, common),
    graphql: !haveSameTypes(typesOf(was), typesOf(is)),
    client: !haveSameFiles(clientOf(was), clientOf(is)),
  };
  return new Set((['openapi', 'graphql', 'client'] as const).filter((surface) => differs[surface]));
}

function commonViews(was: Side, is: Side): ReadonlySet<RoleCollection> {
  return new Set(
    [...was.collections.values()].filter((collection) => is.collections.get(collection.name) === collection),
  );
}

function documentOf({ version, access }: Side, common: ReadonlySet<RoleCollection>): string {
  return canonicalJson(describeOpenApi(version.api, access, version.view(access), { except: common }));
}

function typesOf({ version, access }: Side): readonly string[] {
  return version.api.graphql ? graphqlTypes(version.api, access, version.view(access)) : [];
}

/** Neither the order of types nor that of their fields means anything. */
function haveSameTypes(was: readonly string[], is: readonly string[]): boolean {
  const [old, fresh] = [new Set(was), new Set(is)];
  return unordered(was.filter((type) => !fresh.has(type))) === unordered(is.filter((type) => !old.has(type)));
}

function unordered(texts: readonly string[]): string {
  const types = texts.flatMap((text) => text.split('\n\n')).map((type) => type.trim().split('\n').sort().join('\n'));
  return types.sort().join('\n\n');
}

const render: Render = (_, parts) => JSON.stringify(parts);

function clientOf({ version, access }: Side): ReadonlyMap<string, string> {
  const files = emitClient(version.api, access, render, version.view(access));
  return new Map(files.map(({ path, contents }) => [path, contents]));
}

function haveSameFiles(was: ReadonlyMap<string, string>, is: ReadonlyMap<string, string>): boolean {
  return was.size === is.size && [...was].every(([path, contents]) => is.get(path) === contents);
}
