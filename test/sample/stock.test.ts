/** The sample as `npm start` serves it: its pages, changes of its model and hostile clients. All share one, whose start takes longer. */
import { afterAll, beforeAll, describe } from 'vitest';
import { type Sample, startSample } from '../support/sample.ts';
import { attackSample } from './attacks.ts';
import { changeModel } from './model.ts';
import { visitPages } from './pages.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

visitPages(() => sample);
describe('the model of the sample', () => changeModel(() => sample));
describe('hostile clients of the sample', () => attackSample(() => sample));
