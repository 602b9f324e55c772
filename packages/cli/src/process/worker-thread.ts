/** Threads of the command. Messages to them are plain data, and the compiler of types checks that. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { JsonValue } from '@tablewright/runtime/language';

type Callable = (...args: never[]) => unknown;

/** Levels of a value whose types are looked at. */
type MaxDepth = 8;

/** `Value` with `never` in the place of functions, which no thread can be sent. `Levels` bounds recursive types. */
export type PlainData<Value, Levels extends readonly unknown[] = []> = Value extends Callable | symbol
  ? never
  : Value extends JsonValue | ArrayBufferView | Date
    ? Value
    : Levels['length'] extends MaxDepth
      ? Value
      : Value extends ReadonlyMap<infer Key, infer Element>
        ? ReadonlyMap<Key, PlainData<Element, [...Levels, unknown]>>
        : { readonly [Key in keyof Value]: PlainData<Value[Key], [...Levels, unknown]> };

/** A thread that is sent messages of one type. */
interface WorkerThread<Message> {
  readonly worker: Worker;
  send(message: Message): void;
}

/**
 * Starts a thread with plain data: `startWorker<Question>()(new URL('../worker.ts', import.meta.url), { folder })`.
 * A value with a function in it is an error of types here; at run time it would be a `DataCloneError`.
 */
export function startWorker<Message>(): <Data>(
  url: URL,
  workerData: Data & PlainData<Data>,
  options?: Omit<WorkerOptions, 'workerData'>,
) => WorkerThread<Message & PlainData<Message>> {
  return (url, workerData, options) => {
    const worker = new Worker(url, { ...options, workerData });
    return { worker, send: (message) => worker.postMessage(message) };
  };
}
