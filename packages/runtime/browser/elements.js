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
 * Shows one part of the page instead of the others, and leads keyboard and screen reader to it: to the first field of its
 * form, or to its heading where it has no form, or more to choose from.
 *
 * @param {string} name
 */
export function showPart(name) {
  for (const part of document.querySelectorAll('[data-part]')) {
    part.toggleAttribute('hidden', part.getAttribute('data-part') !== name);
  }
  const shown = find(`[data-part="${name}"]`, HTMLElement);
  const [form, ...others] = shown.querySelectorAll('form');
  if (form === undefined || others.length > 0) find('h1', HTMLElement, shown).focus();
  else find('input:not([hidden])', HTMLInputElement, form).focus();
}

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
