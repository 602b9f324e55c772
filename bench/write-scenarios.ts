/** What is written: each question is a line as `bench/drive.ts` reads it. */
import type { Keys, Question, Scenario } from './scenarios.ts';

const columns = 'id,article_id,author_name,author_email,body,created_at';
const text = 'What a reader has to say about this, in a sentence or two. '.repeat(3);
const children = 20;

/** Stands for a text of its length that no other request has; see `bench/drive.ts`. */
export const uniqueText = '{unique-per-request}';

/** Names of the scenarios, as `--only` takes them. */
export const writeNames = ['create-one', 'create-tree', 'create-1000', 'update-one', 'sync-links'] as const;

/** Makes the scenarios. */
export function listWrites({ articles, tags }: Keys): readonly Scenario[] {
  const comment = (article: string) => ({ article_id: article, author_name: 'Ann Reader', body: text });
  const many = Array.from({ length: 1_000 }, (_, place) => comment(articles[place % articles.length] ?? '1'));
  const below = Array.from({ length: children }, (_, place) => ({ author_name: `Reader ${place}`, body: text }));
  const tree = { title: 'A new article', slug: uniqueText, body: text, comments: below };
  return [
    scenario('create-one', 'one new item, answered with 6 fields', 1.2, [
      ...articles.map((id) => question('POST', `/items/comments?fields=${columns}`, '/comments', comment(id))),
    ]),
    scenario('create-tree', `one new item with ${children} children, answered with all of them`, 1.5, [
      question(
        'POST',
        '/items/articles?fields=id,title,slug,status,comments.id,comments.author_name,comments.body&deep[comments][_sort]=id',
        '/articles',
        tree,
      ),
    ]),
    scenario('create-1000', '1,000 new items in one request, answered with 6 fields each', 1.2, [
      question('POST', `/items/comments?fields=${columns}`, '/comments-many', many),
    ]),
    scenario('update-one', 'one field of one item, answered with 6 fields', 1.2, [
      ...articles.map((_, place) => {
        const path = `/comments/${place + 1}`;
        return question('PATCH', `/items${path}?fields=${columns}`, path, { body: `${text}${place}` });
      }),
    ]),
    scenario('sync-links', 'the tags of one item replaced by other five, answered with them', 1.5, [
      ...articles.map((id, place) => {
        const linked = Array.from({ length: 5 }, (_, at) => Number(tags[(place * 3 + at) % tags.length]));
        const fields = 'id,tags.id,tags.name&deep[tags][_sort]=id';
        return question('PATCH', `/items/articles/${id}?fields=${fields}`, `/articles/${id}`, { tags: linked });
      }),
    ]),
  ];
}

function scenario(
  name: (typeof writeNames)[number],
  title: string,
  target: number,
  questions: readonly Question[],
): Scenario {
  return { name, title, target, ruled: false, questions };
}

function question(method: string, compiled: string, handwritten: string, body: unknown): Question {
  const payload = JSON.stringify(body);
  return { compiled: `${method} ${compiled} ${payload}`, handwritten: `${method} ${handwritten} ${payload}` };
}
