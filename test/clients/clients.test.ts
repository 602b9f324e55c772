/**
 * Clients of this API family and of GraphQL, as npm has them, against the sample as `npm start` serves it. All share one
 * sample, because starting it takes longer than everything that they ask.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { type Sample, startSample } from '../support/sample.ts';
import { walkSdk } from './directus-sdk.ts';
import { walkOldSdk } from './directus-sdk-10.ts';
import { walkGraphql } from './graphql-clients.ts';
import { walkRefine } from './refine.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

describe('@directus/sdk', () => walkSdk(() => sample));
describe('@directus/sdk 10', () => walkOldSdk(() => sample));
describe('@tspvivek/refine-directus', () => walkRefine(() => sample));
describe('clients of GraphQL', () => walkGraphql(() => sample));
