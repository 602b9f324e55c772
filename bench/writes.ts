/** The bench of writes: the same rounds as those of reads, with bodies. Nothing is logged: the sample has no tables of ours. */
import { writeFile } from 'node:fs/promises';
import { driveOwn } from './load.ts';
import { type Measured, measureScenario } from './measure.ts';
import type { ReadsOptions } from './reads.ts';
import { judge, printScenario, printVerdicts, summarise } from './report.ts';
import type { Keys, Question, Scenario } from './scenarios.ts';
import { setStage } from './stage.ts';

const columns = 'id,article_id,author_name,author_email,body,created_at';
const text = 'What a reader has to say about this, in a sentence or two. '.repeat(3);

/** Makes the scenarios; each question is a line as `bench/drive.ts` reads it. */
function listWrites({ articles }: Keys): readonly Scenario[] {
  const comment = (article: string) => ({ article_id: article, author_name: 'Ann Reader', body: text });
  const question = (method: string, compiled: string, handwritten: string, body: unknown): Question => ({
    compiled: `${method} ${compiled}?fields=${columns} ${JSON.stringify(body)}`,
    handwritten: `${method} ${handwritten} ${JSON.stringify(body)}`,
  });
  const many = Array.from({ length: 1_000 }, (_, place) => comment(articles[place % articles.length] ?? '1'));
  return [
    {
      name: 'create-one',
      title: 'one new item, answered with 6 fields',
      target: 1.2,
      ruled: false,
      questions: articles.map((id) => question('POST', '/items/comments', '/comments', comment(id))),
    },
    {
      name: 'update-one',
      title: 'one field of one item, answered with 6 fields',
      target: 1.2,
      ruled: false,
      questions: articles.map((_, place) =>
        question('PATCH', `/items/comments/${place + 1}`, `/comments/${place + 1}`, { body: `${text}${place}` }),
      ),
    },
    {
      name: 'create-1000',
      title: '1,000 new items in one request, answered with 6 fields each',
      target: 1.2,
      ruled: false,
      questions: [question('POST', '/items/comments', '/comments-many', many)],
    },
  ];
}

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchWrites({ rounds, effort, only, json }: ReadsOptions): Promise<void> {
  const say = (note: string): void => void process.stderr.write(`… ${note}\n`);
  const stage = await setStage(say);
  try {
    const scenarios = listWrites(stage.keys).filter(({ name }) => only.length === 0 || only.includes(name));
    const measured: Measured[] = [];
    for (const scenario of scenarios) {
      const result = await measureScenario(stage, scenario, {
        drive: driveOwn,
        rounds,
        effort,
        pgbench: undefined,
        say,
      });
      measured.push(result);
      process.stdout.write(`${printScenario(result)}\n`);
    }
    const verdicts = measured.flatMap(judge);
    process.stdout.write(printVerdicts(verdicts));
    if (json !== undefined) {
      const summary = measured.map((one) => ({ ...one, lines: summarise(one) }));
      await writeFile(json, JSON.stringify({ scenarios: summary, verdicts }, null, 2));
    }
  } finally {
    await stage.close();
  }
}
