/** Results of `platform check` for two of the things that have to fit: database, IR, generated files, permissions. */
import { isDeepStrictEqual } from 'node:util';
import type {
  AccessClass,
  CollectionAccess,
  Fingerprint,
  FingerprintColumn,
  FingerprintObject,
} from '@tablewright/runtime';
import { type Dialect, printTable } from '@tablewright/runtime/language';

/** Sides of a comparison. */
type Party = 'database' | 'platform.schema.json' | 'generated' | 'permissions.yaml';

/** One reason why two things do not fit. */
export interface Finding {
  /** `column public.articles.title`, `permissions.yaml:4:7`, `generated/routes/articles.js`. */
  readonly object: string;
  /** A whole sentence. */
  readonly message: string;
}

export interface Verdict {
  readonly pair: readonly [Party, Party];
  /** `unknown` where one of the two is missing or cannot be read. */
  readonly verdict: 'fits' | 'differs' | 'unknown';
  /** Reason why it does not fit, or the missing parts. */
  readonly findings: readonly Finding[];
}

/** Makes a verdict of findings: none means that the two fit. */
export function verdictOf(pair: Verdict['pair'], findings: readonly Finding[]): Verdict {
  return { pair, verdict: findings.length === 0 ? 'fits' : 'differs', findings };
}

/** The verdict where there is nothing to compare; `message` is a whole sentence. */
export function unknown(pair: Verdict['pair'], object: string, message: string): Verdict {
  return { pair, verdict: 'unknown', findings: [{ object, message }] };
}

const actions = ['read', 'create', 'update', 'delete'] as const;

/** Differences between the rights that two sets of access classes give a role, role by role. */
export function compareAccess(compiled: readonly AccessClass[], now: readonly AccessClass[]): readonly Finding[] {
  const [before, after] = [byRole(compiled), byRole(now)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((role) => {
    const object = `role ${role}`;
    const [was, is] = [before.get(role), after.get(role)];
    if (was === undefined) return [{ object, message: 'It is not compiled yet.' }];
    if (is === undefined) return [{ object, message: 'It is compiled and gone.' }];
    if (was.admin !== is.admin) {
      return [{ object, message: `It is ${is.admin ? 'an' : 'no'} administrator, unlike what was compiled.` }];
    }
    // The permissions of an administrator follow from the tables.
    return is.admin ? [] : comparePermissions(role, was, is);
  });
}

function comparePermissions(role: string, was: AccessClass, is: AccessClass): readonly Finding[] {
  const [before, after] = [byCollection(was), byCollection(is)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) =>
    actions.flatMap((action) => {
      const [old, fresh] = [before.get(name)?.[action], after.get(name)?.[action]];
      if (isDeepStrictEqual(old, fresh)) return [];
      const message =
        fresh === undefined
          ? 'It is compiled and gone.'
          : old === undefined
            ? 'It is not compiled yet.'
            : 'Its rules are not those that were compiled.';
      return [{ object: `rule ${role} ${action} ${name}`, message }];
    }),
  );
}

function byRole(classes: readonly AccessClass[]): ReadonlyMap<string, AccessClass> {
  return new Map(classes.flatMap((accessClass) => accessClass.roles.map((role) => [role, accessClass] as const)));
}

function byCollection({ collections }: AccessClass): ReadonlyMap<string, CollectionAccess> {
  return new Map(collections.map((collection) => [collection.collection, collection]));
}

/** Differences between the tables that the compiled API relies on, and those that compiling now would rely on. */
export function compareFingerprints(dialect: Dialect, compiled: Fingerprint, now: Fingerprint): readonly Finding[] {
  const nameOf = ({ schema, name }: FingerprintObject): string => printTable(dialect, `${schema}.${name}`);
  const before = new Map(compiled.objects.map((object) => [nameOf(object), object]));
  const after = new Map(now.objects.map((object) => [nameOf(object), object]));
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was && is) return compareObjects(name, was, is);
    return [{ object: `table ${name}`, message: is ? 'It is not compiled yet.' : 'It is compiled and gone.' }];
  });
}

function compareObjects(name: string, was: FingerprintObject, is: FingerprintObject): readonly Finding[] {
  const table = `table ${name}`;
  const before = new Map(was.columns.map((column) => [column.name, column]));
  const after = new Map(is.columns.map((column) => [column.name, column]));
  return [
    ...(was.kind === is.kind ? [] : [{ object: table, message: 'It is of another kind than when compiled.' }]),
    ...(was.rowSecurity === is.rowSecurity
      ? []
      : [{ object: table, message: `Row-level security was switched ${is.rowSecurity ? 'on' : 'off'}.` }]),
    ...(was.key.join('\0') === is.key.join('\0')
      ? []
      : [{ object: table, message: `Its key is (${is.key.join(', ')}), compiled as (${was.key.join(', ')}).` }]),
    ...[...new Set([...before.keys(), ...after.keys()])].flatMap((column) =>
      compareColumns(`column ${name}.${column}`, before.get(column), after.get(column)),
    ),
  ];
}

function compareColumns(
  object: string,
  was: FingerprintColumn | undefined,
  is: FingerprintColumn | undefined,
): readonly Finding[] {
  if (was === undefined) return [{ object, message: 'It is not compiled yet.' }];
  if (is === undefined) return [{ object, message: 'It is compiled and gone.' }];
  const messages = [
    was.type === is.type ? null : `It is ${is.type}, compiled as ${was.type}.`,
    was.nullable === is.nullable ? null : `It ${is.nullable ? 'can' : 'cannot'} be null, unlike what was compiled.`,
    labels(was) === labels(is) ? null : `Its labels are ${labels(is)}, compiled as ${labels(was)}.`,
  ];
  return messages.flatMap((message) => (message === null ? [] : [{ object, message }]));
}

function labels({ labels = [] }: FingerprintColumn): string {
  return labels.map((label) => `"${label}"`).join(', ');
}
