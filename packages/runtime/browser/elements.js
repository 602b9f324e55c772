/** Elements of the page, and which part of it is shown. */

/**
 * The first element of that kind that a selector finds. Throws where a template was replaced by one that lacks it.
 *
 * @template {Element} T
 * @param {string} selector
 * @param {new () => T} kind
 * @param {ParentNode} within
 * @returns {T}
 */
export function find(selector, kind, within = document) {
  const found = within.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${kind.name} "${selector}".`);
}

/**
 * Shows one part of the page instead of the others, and leads keyboard and screen reader to it: to its first field, or
 * to its heading where it has none.
 *
 * @param {string} name
 */
export function showPart(name) {
  for (const part of document.querySelectorAll('[data-part]')) {
    part.toggleAttribute('hidden', part.getAttribute('data-part') !== name);
  }
  const shown = find(`[data-part="${name}"]`, HTMLElement);
  find(shown.querySelector(fields) === null ? 'h1' : fields, HTMLElement, shown).focus();
}

const fields = 'input:not([hidden])';

/**
 * Whether the page has a part of that name.
 *
 * @param {string} name
 */
export function hasPart(name) {
  return document.querySelector(`[data-part="${CSS.escape(name)}"]`) !== null;
}

/**
 * Calls back when a button is pressed.
 *
 * @param {string} selector
 * @param {() => void} work
 */
export function onPress(selector, work) {
  find(selector, HTMLButtonElement).addEventListener('click', work);
}
