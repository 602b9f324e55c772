import { hash } from 'node:crypto';
import { sortedBy } from '../../order.ts';
import type { PermissionDocument } from './permission-document.ts';
import { plainRules } from './plain-rules.ts';

/** SHA-256, in hexadecimal, of what a document means: the same however and wherever it is written. */
export function digestPermissions(document: PermissionDocument): string {
  const roles = sortedBy(document.roles, ({ name }) => name).map(({ name, description, admin, app }) => [
    name,
    description,
    admin,
    app,
  ]);
  return hash('sha256', JSON.stringify([roles, plainRules(document)]), 'hex');
}
