/** What the bench of shapes asks: every nested form, about posts with none, three, fifty and a thousand rows below them. */
import type { Scenario } from './scenarios.ts';
import { fanOuts, listTargets, postsPerGroup, type Sizes, type Target } from './shapes-data.ts';

/** One kind of nested read, in the words of both servers. */
interface Form {
  readonly name: string;
  readonly title: string;
  /** Parameters of the compiled server. */
  readonly query: string;
  /** Path and parameters of the hand-written server. */
  readonly path: string;
}

const page = 20;

/** Makes the scenarios. */
export function listShapes(sizes: Sizes): readonly Scenario[] {
  const forms = [...listTargets(sizes).flatMap(targetForms), ...otherForms];
  return forms.flatMap((form) => fanOuts.map((fanOut) => scenarioOf(form, fanOut)));
}

function scenarioOf({ name, title, query, path }: Form, fanOut: number): Scenario {
  const offsets = Array.from({ length: postsPerGroup / page }, (_, index) => index * page);
  const separator = path.includes('?') ? '&' : '?';
  return {
    name: `${name}-${fanOut}`,
    title: `${title}, ${fanOut} each`,
    target: 1,
    ruled: false,
    questions: offsets.map((offset) => ({
      compiled: `/items/posts?${query}&filter[fan_out][_eq]=${fanOut}&sort=id&limit=${page}&offset=${offset}`,
      handwritten: `${path}${separator}fan_out=${fanOut}&offset=${offset}`,
    })),
  };
}

function targetForms(target: Target): readonly Form[] {
  const { table, kind, size, key } = target;
  const fields = `fields=id,title,${[...key, 'name'].map((field) => `${table}.${field}`).join()}`;
  const all = `deep[${table}][_limit]=-1`;
  const path = `/tags?table=${table}`;
  const where = `${size} targets by ${kind}`;
  if (table === 'ruled_tags') {
    return [
      {
        name: 'm2m-ruled',
        title: `m2m, ${where}, a row rule on them`,
        query: `${fields}&${all}`,
        path: `${path}&lighter=50`,
      },
    ];
  }
  const plain = { name: `m2m-${kind}-${size}`, title: `m2m, ${where}`, query: `${fields}&${all}`, path };
  if (kind !== 'bigint') return [plain];
  return [
    plain,
    {
      name: `m2m-top-${size}`,
      title: `m2m, ${where}, the first 5 by name`,
      query: `${fields}&deep[${table}][_sort]=name&deep[${table}][_limit]=5`,
      path: `/top-tags?table=${table}`,
    },
    {
      name: `m2m-named-${size}`,
      title: `m2m, ${where}, of one name`,
      query: `${fields}&${all}&deep[${table}][_filter][name][_eq]=Tag%2077`,
      path: `${path}&name=Tag%2077`,
    },
    {
      name: `m2m-lighter-${size}`,
      title: `m2m, ${where}, the lighter half`,
      query: `${fields}&${all}&deep[${table}][_filter][weight][_lt]=50`,
      path: `${path}&lighter=50`,
    },
    {
      name: `m2m-count-${size}`,
      title: `m2m, ${where}, counted`,
      query: `fields=id,title,count(${table})`,
      path: `/tag-counts?table=${table}`,
    },
    {
      name: `m2m-heaviest-${size}`,
      title: `m2m, ${where}, aggregated`,
      query: `fields=id,title,${table}&deep[${table}][_aggregate][max]=weight`,
      path: `/heaviest-tags?table=${table}`,
    },
  ];
}

const comments = 'fields=id,title,comments.id,comments.body,comments.created_at';
const latest = 'deep[comments][_sort]=-created_at,-id&deep[comments][_limit]=5';

const otherForms: readonly Form[] = [
  { name: 'o2m-all', title: 'o2m, all of 5m', query: `${comments}&deep[comments][_limit]=-1`, path: '/comments' },
  { name: 'o2m-first', title: 'o2m, the first 100', query: comments, path: '/first-comments' },
  { name: 'o2m-latest', title: 'o2m, the latest 5', query: `${comments}&${latest}`, path: '/latest-comments' },
  {
    name: 'o2m-since',
    title: 'o2m, the latest 5 since a day, with their authors',
    query: `${comments},comments.author_id.name&${latest}&deep[comments][_filter][created_at][_gte]=2026-02-01T00:00:00Z`,
    path: '/latest-comments?since=2026-02-01T00:00:00Z',
  },
  {
    name: 'self',
    title: 'children of the same table, the first 100',
    query: 'fields=id,title,posts.id,posts.title',
    path: '/children',
  },
  {
    name: 'm2a',
    title: 'many-to-any, the first 100 of two kinds',
    query: 'fields=id,title,pieces.item:tags_bigint_200.name,pieces.item:tags_bigint_100k.name',
    path: '/pieces',
  },
];
