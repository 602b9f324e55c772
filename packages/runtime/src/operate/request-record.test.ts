import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { beginRequests, createRequestIds, endRequest, type PassRequest, requestRecord } from './request-record.ts';

/** Begins requests whose times are noted, and passes them on. */
function observe(pass: PassRequest) {
  const times: number[] = [];
  const begin = beginRequests(createRequestIds(null), [(_record, _response, ms) => void times.push(ms)], false, pass);
  const request = (): ServerResponse => {
    const message = new IncomingMessage(new Socket());
    const response = new ServerResponse(message);
    begin(message, response);
    return response;
  };
  return { times, request };
}

afterEach(() => {
  vi.useRealTimers();
});

test('requests of one turn have arrived together, and wait for each other', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(1);
  const { times, request } = observe((_, response) => {
    vi.advanceTimersByTime(5);
    endRequest(response);
  });
  request();
  await undefined;
  request();
  await turn();
  request();
  expect(times).toEqual([5, 10, 5]);
});

test('brief answers that follow each other end together, large ones do not', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(1);
  const bytes = [10, 5000, 10, 10];
  const { times, request } = observe(({ [requestRecord]: record }, response) => {
    if (record !== undefined) record.bytes = bytes.shift() ?? 0;
    vi.advanceTimersByTime(5);
    endRequest(response);
  });
  request();
  request();
  request();
  await undefined;
  request();
  expect(times).toEqual([5, 10, 10, 20]);
});

test('a request ends once: with its answer, or with its response', () => {
  const { times, request } = observe(() => {});
  const response = request();
  expect(times).toEqual([]);
  endRequest(response);
  response.emit('close');
  expect(times).toHaveLength(1);
  request().emit('close');
  expect(times).toHaveLength(2);
});

test('a handler that ends its request needs no listener', () => {
  const { times, request } = observe(({ [requestRecord]: record }) => {
    if (record !== undefined) record.isHandled = true;
  });
  const response = request();
  expect(EventEmitter.listenerCount(response, 'close')).toBe(0);
  endRequest(response);
  expect(times).toHaveLength(1);
});
