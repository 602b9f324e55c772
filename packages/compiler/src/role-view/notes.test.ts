import { expect, it } from 'vitest';
import { sampleApi } from '../openapi/testing/sample-api.ts';
import { withoutHiddenNames } from './notes.ts';

const api = sampleApi([
  {
    name: 'orders',
    fields: [
      { name: 'total', type: 'decimal', column: '"ord""sum"' },
      { name: 'order_state', type: 'text' },
      { name: 'name', type: 'text' },
    ],
  },
  { name: 'net price', fields: [{ name: 'amount', type: 'decimal' }] },
  {
    name: 'tags',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'Überschrift', type: 'text' },
    ],
  },
]);

/** Only `tags.name` is visible. */
const read = withoutHiddenNames(api, ({ descriptor }) => (descriptor.name === 'tags' ? new Set(['name']) : null));

it.each([
  'See orders.',
  'Kept until ORDERS closes.',
  'Copied from orders_archive.',
  'As xorder_state_before says.',
  'The net price of it.',
  'Column ord"sum of it.',
  'Die ÜBERSCHRIFT.',
  'Die Überschrift, decomposed.'.normalize('NFD'),
])('leaves out %j', (note) => expect(read(note)).toBeNull());

it.each(['A name.', 'Reorders nothing.', 'The state of an order.', 'The net  price.', '', '*/ --'])(
  'keeps %j',
  (note) => {
    expect(read(note)).toBe(note);
  },
);

it('has nothing to say where there is no note', () => expect(read(null)).toBeNull());
