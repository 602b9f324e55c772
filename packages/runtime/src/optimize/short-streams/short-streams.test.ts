import { expect, test } from 'vitest';
import type { Database, Statement } from '../../database/database.ts';
import { maxRowsOf, readShortStreams } from './short-streams.ts';

const statement = maxRowsOf.on<Statement>({ name: 'r_1', text: 'SELECT' }, 20);

/** A wrapped stream, and how its statements ran. */
function wrapped(rowLength: () => number) {
  const ways: (readonly [way: string, apart: boolean | undefined])[] = [];
  const run = (way: string): Database['stream'] & Database['read'] => {
    return async (
      ran: Statement,
      _parameters: unknown,
      sink: { row(buffer: Buffer, at: number, length: number): void },
    ) => {
      ways.push([way, ran.apart]);
      sink.row(Buffer.alloc(0), 0, rowLength());
    };
  };
  const stream = readShortStreams(run('stream'), run('read'));
  let rows = 0;
  const ask = (asked = statement, signal = new AbortController().signal): Promise<void> =>
    stream(asked, [], { row: () => rows++ }, async () => {}, signal);
  return { ways, ask, rows: () => rows };
}

test('an answer of short rows is read as a whole the next time, apart from others', async () => {
  const { ways, ask, rows } = wrapped(() => 100);
  await ask();
  await ask();
  expect(ways).toEqual([
    ['stream', undefined],
    ['read', true],
  ]);
  expect(rows()).toBe(2);
});

test('long rows, rows without a bound and requests that were given up are streamed', async () => {
  let length = 100_000;
  const { ways, ask } = wrapped(() => length);
  await ask();
  await ask();
  length = 100;
  for (let run = 0; run < 3; run++) await ask({ name: 'r_2', text: 'SELECT' });
  await ask({ ...statement, name: 'r_3' });
  await ask({ ...statement, name: 'r_3' }, AbortSignal.abort());
  expect(ways.map(([way]) => way)).toEqual(Array.from({ length: 7 }, () => 'stream'));
});

test('rows that have become long are streamed again', async () => {
  let length = 100;
  const { ways, ask } = wrapped(() => length);
  await ask();
  length = 100_000;
  await ask();
  await ask();
  expect(ways.map(([way]) => way)).toEqual(['stream', 'read', 'stream']);
});
