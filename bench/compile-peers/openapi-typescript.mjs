// Makes the types of an OpenAPI document by openapi-typescript, once. Prints the size of their text and the milliseconds
// that reading the document, making the types and printing them took.
import { readFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const [file = ''] = process.argv.slice(2);
const start = performance.now();
const text = astToString(await openapiTypescript(await readFile(file, 'utf8'), { silent: true }));
process.stdout.write(JSON.stringify({ characters: text.length, ms: performance.now() - start }));
