/** Every contract test of writes once more, on the plain lane. */
import { describe } from 'vitest';
import { writeOn } from '../support/lanes.ts';

writeOn('pg');
describe('create', async () => void (await import('./writes-create.test.ts')));
describe('update', async () => void (await import('./writes-update.test.ts')));
describe('permissions', async () => void (await import('./writes-permissions.test.ts')));
describe('types', async () => void (await import('./writes-types.test.ts')));
describe('late', async () => void (await import('./writes-late.test.ts')));
