/** Forms: sent by script, one at a time, with what goes wrong said where it went wrong. */
import { find, hasPart, showPart } from './elements.js';
import { say, sayFailure } from './message.js';

/** @import { Failure } from './request.js' */

/**
 * Lets a form do its work with the texts of its fields. A failure that has a part of the page of its own is shown there,
 * every other in the form.
 *
 * @param {string} name
 * @param {(value: (field: string) => string) => Promise<Failure | null>} work
 */
export function onSubmit(name, work) {
  const form = find(`form[data-form="${name}"]`, HTMLFormElement);
  const button = find('button[type="submit"]', HTMLButtonElement, form);
  problemOf(form).id = `${name}-problem`;
  for (const input of form.querySelectorAll('input')) input.addEventListener('input', () => markInvalid(input, false));
  for (const box of form.querySelectorAll('input[data-reveals]')) revealBy(form, box);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // The button keeps the focus while it does nothing.
    if (button.getAttribute('aria-disabled') === 'true' || !isComplete(form)) return;
    button.setAttribute('aria-disabled', 'true');
    const failure = await work((field) => find(`input[name="${field}"]`, HTMLInputElement, form).value);
    button.removeAttribute('aria-disabled');
    if (failure === null) form.reset();
    else if (hasPart(failure.code)) showPart(failure.code);
    else showFailure(form, failure);
  });
}

/**
 * Says in a form why something failed, and leads to the field that it is about.
 *
 * @param {HTMLFormElement} form
 * @param {Failure} failure
 */
function showFailure(form, failure) {
  const name = sayFailure(problemOf(form), failure)?.dataset.field;
  const field = name === undefined ? null : form.elements.namedItem(name);
  if (!(field instanceof HTMLInputElement)) return;
  markInvalid(field, true);
  field.focus();
  field.select();
}

/**
 * Whether every field has what it needs; says what is missing.
 *
 * @param {HTMLFormElement} form
 */
function isComplete(form) {
  const problem = problemOf(form);
  problem.replaceChildren();
  const inputs = [...form.querySelectorAll('input')];
  for (const input of inputs) markInvalid(input, false);
  const wrong = inputs.find((input) => !input.validity.valid);
  if (wrong === undefined) return true;
  const label = wrong.labels?.[0]?.textContent.trim() ?? '';
  say(problem, [wrong.validity.valueMissing ? 'valueMissing' : 'typeMismatch'], { label });
  markInvalid(wrong, true);
  wrong.focus();
  return false;
}

/** @param {HTMLFormElement} form */
function problemOf(form) {
  return find('[role="alert"]', HTMLElement, form);
}

/**
 * Marks a field as the one that the problem of its form is about, or as no longer that.
 *
 * @param {HTMLInputElement} input
 * @param {boolean} invalid
 */
function markInvalid(input, invalid) {
  input.toggleAttribute('aria-invalid', false);
  input.toggleAttribute('aria-errormessage', false);
  if (!invalid || input.form === null) return;
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-errormessage', problemOf(input.form).id);
}

/**
 * @param {HTMLFormElement} form
 * @param {Element} box
 */
function revealBy(form, box) {
  const input = find(`input[name="${box.getAttribute('data-reveals')}"]`, HTMLInputElement, form);
  box.addEventListener('change', () => {
    input.type = box instanceof HTMLInputElement && box.checked ? 'text' : 'password';
  });
  form.addEventListener('reset', () => {
    input.type = 'password';
  });
}
