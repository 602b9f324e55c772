/** Messages of the page. All wording is in the templates; values from elsewhere become text, never markup. */
import { find } from './elements.js';

/** @import { Failure } from './request.js' */

/**
 * Writes the message of the first name that the page has one for into an element, and returns the message's template;
 * null when it has none.
 *
 * @param {Element} place
 * @param {readonly string[]} names
 * @param {Readonly<Record<string, string>>} slots
 */
export function say(place, names, slots = {}) {
  const message = names.map((name) => templateOf(place, name)).find((template) => template !== null) ?? null;
  place.replaceChildren(message === null ? '' : message.content.cloneNode(true));
  for (const [name, value] of Object.entries(slots)) {
    for (const slot of place.querySelectorAll(`[data-slot="${name}"]`)) slot.textContent = value;
  }
  return message;
}

/**
 * Says why something failed, in the server's words where the page has none.
 *
 * @param {Element} place
 * @param {Failure} failure
 */
export function sayFailure(place, { code, rule, message, seconds }) {
  const found = say(place, rule === null ? [code] : [rule, code], { wait: inWords(seconds) });
  if (found === null) place.textContent = message || code;
  return found;
}

/**
 * Says something that is no failure.
 *
 * @param {string} name
 */
export function notice(name) {
  say(find('[data-notice]', HTMLElement), [`notice:${name}`]);
}

/**
 * The message of the part that a place lies in, else that of the whole page.
 *
 * @param {Element} place
 * @param {string} name
 * @returns {HTMLTemplateElement | null}
 */
function templateOf(place, name) {
  const wanted = `template[data-message="${CSS.escape(name)}"]`;
  const own = place.closest('[data-part]')?.querySelector(wanted);
  const found = own ?? document.querySelector(`${wanted}:not([data-part] *)`);
  return found instanceof HTMLTemplateElement ? found : null;
}

/**
 * A time to wait as people of the page's language say it: `45 seconds`, `2 minutes`.
 *
 * @param {number} seconds
 */
function inWords(seconds) {
  const inMinutes = seconds > 90;
  const value = Math.max(1, Math.ceil(inMinutes ? seconds / 60 : seconds));
  const unit = inMinutes ? 'minute' : 'second';
  const format = new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(value);
}
