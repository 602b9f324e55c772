// Makes the types of an OpenAPI document by openapi-typescript, once. Prints the size of their text and the milliseconds
// that reading the document, making the types and printing them took.
//
// In a thread for its stack: the document is checked by a function that calls itself once for every table on the way from
// one to another, and ends with "Maximum call stack size exceeded" for a thousand tables otherwise.
import { readFile } from 'node:fs/promises';
import { isMainThread, Worker } from 'node:worker_threads';
import openapiTypescript, { astToString } from 'openapi-typescript';

if (isMainThread) {
  new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), resourceLimits: { stackSizeMb: 512 } });
} else {
  const [file = ''] = process.argv.slice(2);
  const start = performance.now();
  const text = astToString(await openapiTypescript(await readFile(file, 'utf8'), { silent: true }));
  process.stdout.write(JSON.stringify({ characters: text.length, ms: performance.now() - start }));
}
