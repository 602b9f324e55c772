/** Every contract test of writes once more, on the plain lane. */
import { describe } from 'vitest';
import { writeOn } from '../support/lanes.ts';

writeOn('pg');
describe('create', () => import('./writes-create.test.ts'));
describe('update', () => import('./writes-update.test.ts'));
describe('permissions', () => import('./writes-permissions.test.ts'));
describe('types', () => import('./writes-types.test.ts'));
describe('late', () => import('./writes-late.test.ts'));
