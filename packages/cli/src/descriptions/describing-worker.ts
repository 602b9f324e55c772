/** The thread that prints descriptions. Started by describing-thread.ts; not meant to be imported. */
import { parentPort, workerData } from 'node:worker_threads';
import type { GeneratedFile } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import { keepCompiledCode } from '../process/compiled-code.ts';
import type { DescribingAnswer, DescribingQuestion, DescribingSources } from './describing-thread.ts';

keepCompiledCode();
// Static imports would be loaded before Node's compile cache is on.
const [{ compile }, { packFiles }] = await Promise.all([
  import('@tablewright/compiler/compile'),
  import('./packed-files.ts'),
]);

const { inputs }: DescribingSources = workerData;

function report(message: DescribingAnswer): void {
  parentPort?.postMessage(message);
}

parentPort?.once('message', (question: DescribingQuestion) => {
  const schema: Schema = JSON.parse(question);
  const described = (file: GeneratedFile): void => report({ packed: packFiles([file]) });
  const { diagnostics } = compile(schema, { ...inputs, part: 'descriptions', described });
  report({ diagnostics });
});
