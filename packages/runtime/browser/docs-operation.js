/** An operation to read: its parameters, its body, its answers with examples, and a form to try it. */
import { readOperation } from './docs-document.js';
import { create, lazily, lines, prose } from './docs-elements.js';
import { schemaLine } from './docs-schema.js';
import { tryForm } from './docs-try.js';
import { member, text } from './request.js';

/** @import { Listed } from './docs-worker.js' */

/**
 * One operation, which is read when it is opened.
 *
 * @param {Listed} listed
 * @param {() => string} token Of the caller whom the page shows.
 */
export function operationView(listed, token) {
  const summary = [
    create('span', { class: 'method' }, listed.method),
    ' ',
    create('code', {}, listed.path),
    ' ',
    create('span', { class: 'summary' }, listed.summary),
  ];
  return lazily(
    summary,
    async () => {
      const operation = await readOperation(listed.path, listed.method);
      const description = text(operation, 'description');
      const body = operation.requestBody;
      return [
        ...(description === '' ? [] : [create('p', {}, ...prose(description))]),
        ...section('Parameters', parameterLines(operation.parameters)),
        ...section('Body', contentLines(member(body, 'content'), 'Example of the body')),
        ...section('Answers', answerLines(operation.responses)),
        create('h3', {}, 'Try it'),
        await tryForm(listed, operation, token),
      ];
    },
    { class: 'operation', id: listed.id },
  );
}

/**
 * @param {string} title
 * @param {readonly Node[]} items
 */
function section(title, items) {
  return items.length === 0 ? [] : [create('h3', {}, title), create('ul', { class: 'members' }, ...items)];
}

/**
 * @param {unknown} parameters
 * @returns {readonly Node[]}
 */
function parameterLines(parameters) {
  return (Array.isArray(parameters) ? parameters : []).map((parameter) =>
    schemaLine(text(parameter, 'name'), member(parameter, 'schema'), {
      required: member(parameter, 'required') === true,
      description: `In the ${text(parameter, 'in')}. ${text(parameter, 'description')}`,
    }),
  );
}

/**
 * @param {unknown} content
 * @param {string} label
 * @returns {readonly Node[]}
 */
function contentLines(content, label) {
  return Object.entries(content ?? {}).flatMap(([type, media]) => {
    const given = member(media, 'example');
    const examples = Object.values(member(media, 'examples') ?? {}).map((example) => [
      text(example, 'summary') || label,
      member(example, 'value'),
    ]);
    const all = given === null ? examples : [[label, given], ...examples];
    return [
      schemaLine(type, member(media, 'schema')),
      ...all.map(([title, value]) =>
        create(
          'li',
          {},
          lazily([`Example: ${title}`], () => [lines(JSON.stringify(value, null, 2), String(title))]),
        ),
      ),
    ];
  });
}

/**
 * @param {unknown} responses
 * @returns {readonly Node[]}
 */
function answerLines(responses) {
  return Object.entries(responses ?? {}).map(([status, response]) => {
    const headers = Object.entries(member(response, 'headers') ?? {}).map(([name, header]) =>
      schemaLine(name, member(header, 'schema'), { description: `A header. ${text(header, 'description')}` }),
    );
    const parts = [...contentLines(member(response, 'content'), 'Example of the answer'), ...headers];
    const line = [create('code', { class: 'name' }, status), ' ', ...prose(text(response, 'description'))];
    if (parts.length === 0) return create('li', {}, ...line);
    return create(
      'li',
      {},
      lazily(line, () => [create('ul', { class: 'members' }, ...parts)]),
    );
  });
}
