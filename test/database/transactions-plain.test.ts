/** Every test of transactions once more, on the plain lane. */
import { describe } from 'vitest';
import { writeOn } from '../support/lanes.ts';

writeOn('pg');
describe('on the plain lane', async () => void (await import('./transactions.test.ts')));
