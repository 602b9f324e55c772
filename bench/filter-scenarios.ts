/** Filters that look through relations, asked of both servers: through one relation and through two, to-one and to-many. */
import { listFields, type Scenario } from './scenarios.ts';

/** Values that exist, from which the requests are made. */
export interface FilterValues {
  /** Codes of countries that authors live in, and their names. */
  readonly countries: readonly string[];
  readonly countryNames: readonly string[];
  readonly tagNames: readonly string[];
  /** Names of readers who have commented. */
  readonly readers: readonly string[];
}

const articles = `/items/articles?fields=${listFields}&filter[status][_eq]=published&sort=-published_at,-id&limit=20`;
const comments = '/items/comments?fields=id,author_name,body,created_at&sort=-created_at,-id&limit=20';

/** Makes the scenarios. */
export function listFilters({ countries, countryNames, tagNames, readers }: FilterValues): readonly Scenario[] {
  return [
    scenario('to-one', 'articles of authors of a country', countries, articles, 'author_id][country'),
    scenario('two-to-one', 'the same by the country’s name', countryNames, articles, 'author_id][country][name'),
    scenario('to-many', 'articles that a reader has commented on', readers, articles, 'comments][author_name'),
    scenario('links', 'articles with a tag', tagNames, articles, 'tags][name'),
    scenario('two-relations', 'comments on articles with a tag', tagNames, comments, 'article_id][tags][name'),
  ];
}

function scenario(name: string, title: string, values: readonly string[], list: string, path: string): Scenario {
  return {
    name: `filter-${name}`,
    title: `list of 20, ${title}`,
    target: 1.1,
    ruled: false,
    questions: values.map(encodeURIComponent).map((value) => ({
      compiled: `${list}&filter[${path}][_eq]=${value}`,
      handwritten: `/filter-${name}?value=${value}`,
    })),
  };
}
