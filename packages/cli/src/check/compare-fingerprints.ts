import type { Fingerprint, FingerprintColumn, FingerprintObject } from '@tablewright/runtime';
import { type Dialect, printTable } from '@tablewright/runtime/language';
import type { Finding } from './verdict.ts';

/**
 * Differences between the tables and columns that the compiled API relies on, and those that compiling now would rely
 * on.
 */
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
