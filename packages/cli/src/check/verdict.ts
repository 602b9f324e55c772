/** Results of `platform check` for two of the things that have to fit: database, IR, generated files, permissions. */
import { isDeepStrictEqual } from 'node:util';
import type {
  AccessClass,
  CollectionAccess,
  Fingerprint,
  FingerprintColumn,
  FingerprintObject,
} from '@tablewright/runtime';
import { type Dialect, type FunctionAccess, printTable } from '@tablewright/runtime/language';

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
  return namesOf(before, after).flatMap((role) => {
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
  const [called, callable] = [byFunction(was), byFunction(is)];
  return [
    ...namesOf(before, after).flatMap((name) =>
      actions.flatMap((action) =>
        compareRules(`rule ${role} ${action} ${name}`, before.get(name)?.[action], after.get(name)?.[action]),
      ),
    ),
    ...namesOf(called, callable).flatMap((name) =>
      compareRules(`rule ${role} call ${name}`, called.get(name), callable.get(name)),
    ),
  ];
}

/** Compares what grants an action, which is absent where nothing does. */
function compareRules(object: string, was: unknown, is: unknown): readonly Finding[] {
  if (isDeepStrictEqual(was, is)) return [];
  const message =
    is === undefined
      ? 'It is compiled and gone.'
      : was === undefined
        ? 'It is not compiled yet.'
        : 'Its rules are not those that were compiled.';
  return [{ object, message }];
}

function namesOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort();
}

function byRole(classes: readonly AccessClass[]): ReadonlyMap<string, AccessClass> {
  return new Map(classes.flatMap((accessClass) => accessClass.roles.map((role) => [role, accessClass] as const)));
}

function byCollection({ collections }: AccessClass): ReadonlyMap<string, CollectionAccess> {
  return new Map(collections.map((collection) => [collection.collection, collection]));
}

function byFunction({ functions = [] }: AccessClass): ReadonlyMap<string, FunctionAccess> {
  return new Map(functions.map((granted) => [granted.function, granted]));
}

/** Differences between the tables that the compiled API relies on, and those that compiling now would rely on. */
export function compareFingerprints(dialect: Dialect, compiled: Fingerprint, now: Fingerprint): readonly Finding[] {
  const nameOf = ({ schema, name }: FingerprintObject): string => printTable(dialect, `${schema}.${name}`);
  const before = new Map(compiled.objects.map((object) => [nameOf(object), object]));
  const after = new Map(now.objects.map((object) => [nameOf(object), object]));
  return namesOf(before, after).flatMap((name) => {
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
    ...(was.rowSecurity === is.rowSecurity ? [] : [{ object: table, message: rowSecurityText(was, is) }]),
    ...(was.key.join('\0') === is.key.join('\0')
      ? []
      : [{ object: table, message: `Its key is (${is.key.join(', ')}), compiled as (${was.key.join(', ')}).` }]),
    ...[...new Set([...before.keys(), ...after.keys()])].flatMap((column) =>
      compareColumns(`column ${name}.${column}`, before.get(column), after.get(column)),
    ),
  ];
}

function rowSecurityText(was: FingerprintObject, is: FingerprintObject): string {
  if (!was.rowSecurity || !is.rowSecurity) return `Row-level security was switched ${is.rowSecurity ? 'on' : 'off'}.`;
  const binding = is.rowSecurity === 'unbound' ? 'do not' : 'may';
  return `Policies ${binding} bind the role of the connection, unlike what was compiled.`;
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
    members(was) === members(is) ? null : `Its members are ${members(is)}, compiled as ${members(was)}.`,
  ];
  return messages.flatMap((message) => (message === null ? [] : [{ object, message }]));
}

function labels({ labels = [] }: FingerprintColumn): string {
  return labels.map((label) => `"${label}"`).join(', ');
}

/** Members of composite values with their paths: `city text, seat/shelf integer`. */
function members({ members: all = [] }: FingerprintColumn): string {
  return all.map(([path, name, type]) => `${path === '' ? '' : `${path}/`}${name} ${type}`).join(', ');
}
