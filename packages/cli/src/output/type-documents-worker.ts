/** The thread that makes types of OpenAPI documents. Started by finish-files.ts; not meant to be imported. */
import { parentPort, workerData } from 'node:worker_threads';
import openapiTypescript, { astToString } from 'openapi-typescript';
import type { TypedTexts } from './finish-files.ts';

const documents: TypedTexts = workerData;
const typed: string[] = [];
for (const document of documents) typed.push(astToString(await openapiTypescript(document, { silent: true })));
const message: TypedTexts = typed;
parentPort?.postMessage(message);
