import type { Schema } from '@platform/introspect/schema';
import type { AccessClass } from '@platform/runtime/contract';
import type { Api, ApiCollection } from '../api.ts';
import { type View, type ViewCollection, viewOf } from '../openapi/view.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import type { Direction, Verdicts } from './change.ts';
import { type Concern, operationsOf } from './operations.ts';
import type { RuleId } from './rules.ts';

/** One of the two that are compared. */
export interface Version {
  readonly schema: Schema;
  readonly api: Api;
  readonly collections: ReadonlyMap<string, ApiCollection>;
  readonly access: ReadonlyMap<string, AccessClass>;
  /** What an access class sees; made once for each. */
  readonly view: (access: AccessClass) => View;
}

/** What one role has of a version. */
export interface Side {
  readonly version: Version;
  readonly access: AccessClass;
  readonly collections: ReadonlyMap<string, ViewCollection>;
}

/** One change for one role, before it is put together with those of others. */
export interface Found {
  readonly rule: RuleId;
  readonly subject: string;
  readonly message: string;
  readonly operations: readonly string[];
  readonly rights?: Direction;
  /** In place of what the rule says. */
  readonly verdicts?: Verdicts;
}

/** Prepares one of the two for comparisons. */
export function versionOf(schema: Schema): Version {
  const api = resolveApi(schema);
  const views = new Map<AccessClass, View>();
  return {
    schema,
    api,
    collections: new Map(api.collections.map((one) => [one.descriptor.name, one])),
    access: new Map(api.access.flatMap(({ access }) => access.roles.map((role) => [role, access] as const))),
    view: (access) => {
      const known = views.get(access) ?? viewOf(api, access);
      views.set(access, known);
      return known;
    },
  };
}

/** What a role has of a version; undefined where there is no such role. */
export function sideOf(version: Version, role: string): Side | undefined {
  const access = version.access.get(role);
  if (access === undefined) return undefined;
  const { collections } = version.view(access);
  return { version, access, collections: new Map(collections.map((one) => [one.name, one])) };
}

/** The operations of one collection on one side. */
export function operationsIn({ version, collections }: Side, name: string, concern: Concern): readonly string[] {
  const view = collections.get(name);
  return view === undefined ? [] : operationsOf(view, version.collections.get(name), concern, version.api.graphql);
}
