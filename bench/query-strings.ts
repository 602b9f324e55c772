/** Query strings of ever new shapes: fields, relations, filters and orders as people combine them, counted through. */

const fields = ['id', 'title', 'slug', 'status', 'published_at', 'views', 'rating', 'author_id', 'category_id'];
const relations = [
  '',
  ',tags.name',
  ',author_id.name,category_id.name',
  ',comments.body,comments.created_at,tags.id,tags.name',
];
const filters = [
  (value: number) => `filter[views][_gte]=${value}`,
  (value: number) => `filter[author_id][name][_icontains]=${value}`,
  (value: number) => `filter={"_or":[{"rating":{"_gt":${value}}},{"title":{"_contains":"${value}"}}]}`,
  (value: number) => `filter[tags][name][_eq]=${value}&filter[views][_lt]=${value}`,
];
const sorts = ['-published_at,-id', 'title', '-views', 'author_id.name'];

/** How many numbers there are: below it, two numbers always make different shapes. */
export const differentQueryStrings = 2 ** (fields.length + 6);

/** Makes the query string of a number; with another value the shape stays the same. */
export function queryString(number: number, value: number): string {
  const selected = fields.filter((_, index) => (number >> (index + 6)) & 1).join() || 'reading_minutes';
  const relation = relations[number & 3] ?? '';
  const filter = filters[(number >> 2) & 3]?.(value) ?? '';
  const sort = sorts[(number >> 4) & 3] ?? '';
  return `fields=${selected}${relation}&${filter}&sort=${sort}&limit=25`;
}
