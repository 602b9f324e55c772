/** Every contract test of writes once more, on the plain lane. */
import { afterAll, describe } from 'vitest';
import { writeOn } from '../support/lanes.ts';

writeOn('pg');
// Files share the modules of their worker.
afterAll(() => writeOn('fast'));

/** Names that the files do not have as tests of their own: a module that is known already would declare nothing. */
const again = (name: string): Promise<unknown> => import(`./writes-${name}.test.ts?lane=plain`);

describe('create', async () => void (await again('create')));
describe('update', async () => void (await again('update')));
describe('permissions', async () => void (await again('permissions')));
describe('types', async () => void (await again('types')));
describe('late', async () => void (await again('late')));
