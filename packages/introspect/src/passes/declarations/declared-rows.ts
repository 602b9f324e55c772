import type { DeclaredRow } from '@tablewright/runtime/language';

/** The names in a member of a row, which have commas between them. */
export function namesOf(row: DeclaredRow, member: string): readonly string[] {
  const names = (textOf(row, member) ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

/** The text of a member of a row; undefined for an empty one. */
export function textOf(row: DeclaredRow, member: string): string | undefined {
  const value = row[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
