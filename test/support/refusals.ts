/** Answers that refuse. */
import { expect } from 'vitest';
import type { Answer } from './platform.ts';

/** Expects two refusals in the same bytes, so that neither tells more than the other. */
export function expectSameRefusal(first: Answer, second: Answer): void {
  expect(second.status).toBeGreaterThanOrEqual(400);
  expect([first.status, first.text]).toEqual([second.status, second.text]);
}
