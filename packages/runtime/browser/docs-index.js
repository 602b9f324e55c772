/** The index beside the documentation: tags with their operations, and a search over all of them. */
import { create } from './docs-elements.js';
import { find } from './elements.js';

/** @import { Index, Listed, Tag } from './docs-worker.js' */

/** Operations that a search lists; more would be found by another word. */
const mostFound = 100;

/** @type {readonly Tag[]} */
let tags = [];

/**
 * Lists the operations of a document.
 *
 * @param {Index} index
 */
export function showIndex(index) {
  tags = index.tags;
  search();
}

find('#search', HTMLInputElement).addEventListener('input', search);

function search() {
  const words = find('#search', HTMLInputElement)
    .value.toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const list = find('#index', HTMLUListElement);
  if (words.length === 0) {
    const count = tags.reduce((sum, { operations }) => sum + operations.length, 0);
    find('#found', HTMLElement).textContent = `${count} operations`;
    list.replaceChildren(...tags.map(tagItem));
    return;
  }
  const found = tags.flatMap((tag) => tag.operations.filter((operation) => matches(tag, operation, words)));
  const more = found.length > mostFound ? `, the first ${mostFound} of them` : '';
  find('#found', HTMLElement).textContent = `${found.length} operations found${more}`;
  list.replaceChildren(...found.slice(0, mostFound).map(operationItem));
}

/**
 * @param {Tag} tag
 * @param {Listed} operation
 * @param {readonly string[]} words
 */
function matches({ name, description }, { id, method, path, summary }, words) {
  const all = `${method} ${path} ${summary} ${id} ${name} ${description}`.toLowerCase();
  return words.every((word) => all.includes(word));
}

/** @param {Tag} tag */
function tagItem({ name }) {
  return create('li', {}, create('a', { href: `#tag/${encodeURIComponent(name)}` }, name));
}

/** @param {Listed} operation */
function operationItem({ id, method, path }) {
  const link = create('a', { href: `#${encodeURIComponent(id)}` });
  link.append(create('span', { class: 'method' }, method), ' ', create('code', {}, path));
  return create('li', {}, link);
}
