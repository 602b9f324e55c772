/** Hooks of every stage, and an event of each action. */
import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../expected/extension.js';

export default defineExtension(({ before, after, afterCommit }) => {
  before('notes.create', async ({ payload, caller, items }) => {
    if (caller.user === null) throw new PlatformError('FORBIDDEN');
    const [team] = await items('teams').list({ fields: ['name'], limit: 1 });
    payload.team = team?.name ?? null;
  });
  before('notes.update', ({ payload, keys }) => {
    if (keys === null) throw new PlatformError('UNPROCESSABLE_ENTITY', 'Name the notes.');
    payload.team = payload.team?.trim() ?? null;
  });
  after('notes.delete', async ({ keys, items }) => {
    await items.asAdmin('teams').update(keys, { name: 'left' });
  });
  afterCommit('teams.create', ({ key, payload }) => console.log(key, payload.name));
});
