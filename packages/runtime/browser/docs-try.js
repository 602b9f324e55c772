/** A form that sends an operation to this server, and what came of it. */
import { readExample } from './docs-document.js';
import { create, lines } from './docs-elements.js';
import { inLines } from './docs-json.js';
import { typeOf } from './docs-schema.js';
import { member, text } from './request.js';

/** @import { Listed, Members } from './docs-worker.js' */

/** Characters of an answer that are shown; the rest would only make the page slow. */
const mostShown = 200_000;

/**
 * @param {Listed} listed
 * @param {Members} operation
 * @param {() => string} token Of the caller whom the page shows.
 */
export async function tryForm(listed, operation, token) {
  const parameters = elements(operation.parameters).filter((parameter) => member(parameter, 'in') !== 'cookie');
  const inputs = parameters.map((parameter) => ({ parameter, input: inputOf(parameter) }));
  const content = member(operation.requestBody, 'content');
  const types = Object.keys(content ?? {});
  const type = types.find((name) => name.endsWith('json')) ?? types[0];
  const body = type === undefined ? null : await bodyField(type, member(content, type));
  const answer = create('div', { class: 'answer', role: 'status' });
  const button = create('button', {}, 'Send');
  const form = create(
    'form',
    { 'aria-label': `Try ${listed.method} ${listed.path}` },
    ...inputs.map(({ parameter, input }) => labelled(labelOf(parameter), input)),
    ...(body === null ? [] : [body.element]),
    button,
    answer,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    try {
      const started = performance.now();
      const response = await send(listed, inputs, token(), body?.value() ?? '', type ?? '');
      const blob = await response.blob();
      answer.replaceChildren(...(await answerView(response, blob, performance.now() - started)));
    } catch (error) {
      answer.replaceChildren(create('p', { class: 'problem' }, `There was no answer: ${String(error)}`));
    }
    button.removeAttribute('aria-disabled');
  });
  return form;
}

/** @typedef {readonly { readonly parameter: unknown, readonly input: HTMLInputElement | HTMLSelectElement }[]} Inputs */

/**
 * @param {Listed} listed
 * @param {Inputs} inputs
 * @param {string} token
 * @param {string | FormData} body Empty for none.
 * @param {string} type Media type of the body; a form names its own.
 */
function send({ method, path }, inputs, token, body, type) {
  const headers = new Headers();
  for (const { parameter, input } of inputs) {
    if (member(parameter, 'in') === 'header' && input.value !== '') headers.set(text(parameter, 'name'), input.value);
  }
  if (token !== '') headers.set('Authorization', `Bearer ${token}`);
  if (typeof body === 'string' && body !== '') headers.set('Content-Type', type);
  return fetch(addressOf(path, inputs), { method, headers, cache: 'no-store', ...(body !== '' && { body }) });
}

/**
 * @param {unknown} value
 * @returns {readonly unknown[]}
 */
function elements(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {unknown} parameter */
function labelOf(parameter) {
  const where = text(parameter, 'in');
  return `${text(parameter, 'name')} (${where}${member(parameter, 'required') === true ? ', required' : ''})`;
}

/** @param {unknown} parameter */
function inputOf(parameter) {
  const schema = member(parameter, 'schema');
  const values = elements(member(schema, 'enum'));
  if (values.length > 0) {
    return create(
      'select',
      {},
      create('option', { value: '' }),
      ...values.map((value) => create('option', {}, String(value))),
    );
  }
  const isObject = member(parameter, 'style') === 'deepObject';
  const input = create('input', {
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: isObject ? 'an object in JSON' : typeOf(schema),
  });
  input.required = member(parameter, 'required') === true;
  return input;
}

/**
 * @param {string} label
 * @param {HTMLElement} input
 */
function labelled(label, input) {
  return create('label', {}, create('span', {}, label), input);
}

/** @typedef {{ readonly element: HTMLElement, readonly value: () => string | FormData }} BodyField */

/**
 * @param {string} type
 * @param {unknown} media
 * @returns {Promise<BodyField>}
 */
async function bodyField(type, media) {
  const schema = member(media, 'schema');
  if (type === 'multipart/form-data') return formField(schema);
  const [example] = Object.values(member(media, 'examples') ?? {});
  const given = member(media, 'example') ?? member(example, 'value') ?? (await readExample(schema));
  const area = create('textarea', { rows: '8', spellcheck: 'false' });
  area.value = type.endsWith('json') ? JSON.stringify(given, null, 2) : String(given ?? '');
  return { element: labelled(`Body (${type})`, area), value: () => area.value };
}

/**
 * @param {unknown} schema
 * @returns {BodyField}
 */
function formField(schema) {
  const fields = Object.entries(member(schema, 'properties') ?? {}).map(([name, field]) => {
    const isFile = name === 'file' || text(field, 'format') === 'binary' || text(field, 'contentMediaType') !== '';
    return { name, input: create('input', { type: isFile ? 'file' : 'text', autocomplete: 'off' }) };
  });
  // A file comes after the fields that are about it.
  const sorted = fields.toSorted((a, b) => Number(a.input.type === 'file') - Number(b.input.type === 'file'));
  return {
    element: create(
      'fieldset',
      {},
      create('legend', {}, 'Form'),
      ...sorted.map(({ name, input }) => labelled(name, input)),
    ),
    value() {
      const form = new FormData();
      for (const { name, input } of sorted) {
        const [file] = input.files ?? [];
        if (file !== undefined) form.append(name, file);
        else if (input.type !== 'file' && input.value !== '') form.append(name, input.value);
      }
      return form;
    },
  };
}

/**
 * Relative to the page, so that the server may lie below any path of its host.
 *
 * @param {string} path
 * @param {Inputs} inputs
 */
function addressOf(path, inputs) {
  const query = new URLSearchParams();
  let address = path.slice(1);
  for (const { parameter, input } of inputs) {
    const name = text(parameter, 'name');
    const where = member(parameter, 'in');
    if (where === 'path') address = address.replace(`{${name}}`, () => encodeURIComponent(input.value));
    else if (where === 'query' && input.value !== '') query.append(name, input.value);
  }
  const search = query.toString();
  return search === '' ? address : `${address}?${search}`;
}

/**
 * @param {Response} response
 * @param {Blob} blob
 * @param {number} milliseconds
 */
async function answerView(response, blob, milliseconds) {
  const type = response.headers.get('Content-Type') ?? '';
  const line = `${response.status} ${response.statusText} · ${Math.round(milliseconds)} ms · ${blob.size} bytes ${type}`;
  const status = create('p', { class: response.ok ? 'notice' : 'problem' }, line);
  if (blob.size === 0) return [status];
  if (!/json|text|xml|yaml|javascript/.test(type)) {
    const link = create('a', { download: 'answer' }, 'Save the answer');
    link.href = URL.createObjectURL(blob);
    return [status, create('p', {}, link)];
  }
  const whole = await blob.text();
  const shown =
    whole.length > mostShown ? `${whole.slice(0, mostShown)}\n…` : /json/.test(type) ? inLines(whole) : whole;
  return [status, lines(shown, 'Answer')];
}
