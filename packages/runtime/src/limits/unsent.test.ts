import { expect, test } from 'vitest';
import { UnsentBytes } from './unsent.ts';

test('all clients share the bound, and one has a quarter of it', () => {
  const unsent = new UnsentBytes({ maxCount: 400, timeoutMs: 10 });
  const [first, second] = [unsent.of('a'), unsent.of('b')];
  first.add(100);
  expect([first.hasRoom(), second.hasRoom()]).toEqual([false, true]);
  second.add(300);
  expect([unsent.used, unsent.of('c').hasRoom(), second.hasRoomBeside(300)]).toEqual([400, false, true]);
  first.add(-100);
  expect([unsent.used, unsent.of('c').hasRoom(), first.hasRoom()]).toEqual([300, true, true]);
});

test('an answer waits until there is room, and is refused when that is late', async () => {
  const unsent = new UnsentBytes({ maxCount: 400, timeoutMs: 20 });
  const bytes = unsent.of('a');
  bytes.add(100);
  const room = bytes.room();
  bytes.add(-1);
  await room;
  bytes.add(1);
  await expect(bytes.room()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
