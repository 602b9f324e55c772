/**
 * The OpenAPI document, in a thread of its own: documents of large schemas have tens of megabytes, which the page must not
 * wait for. It answers with an index of the operations, one operation, one schema, or an example of a body.
 */

/** @typedef {{ readonly id: string, readonly method: string, readonly path: string, readonly summary: string }} Listed */
/** @typedef {{ readonly name: string, readonly description: string, readonly operations: readonly Listed[] }} Tag */
/** @typedef {{ readonly title: string, readonly description: string, readonly tags: readonly Tag[] }} Index */
/** @typedef {{ readonly [name: string]: unknown }} Members */

/** Keys of a path item that are operations. SEARCH has no place of its own in OpenAPI 3.1. */
const methods = new Map([
  ['get', 'GET'],
  ['x-platform-search', 'SEARCH'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
]);

/** @type {Promise<Members>} */
let reading = Promise.resolve({});

/**
 * @param {unknown} value
 * @returns {Members}
 */
function membersOf(value) {
  return value !== null && typeof value === 'object' ? { ...value } : {};
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' ? value : '';
}

/**
 * The document of the holder of a token.
 *
 * @param {string} token
 */
async function read(token) {
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch('../server/specs/oas', { headers, cache: 'no-store' });
  /** @type {unknown} */
  const json = await response.json();
  const members = membersOf(json);
  if (response.ok) return members;
  const [first] = Array.isArray(members.errors) ? members.errors : [];
  throw new Error(textOf(membersOf(first).message) || `The server answered ${response.status}.`);
}

/**
 * @param {Members} document
 * @returns {Index}
 */
function indexOf(document) {
  const described = Array.isArray(document.tags) ? document.tags.map(membersOf) : [];
  /** @type {Map<string, Listed[]>} */
  const byTag = new Map(described.map(({ name }) => [textOf(name), []]));
  for (const [path, item] of Object.entries(membersOf(document.paths))) {
    const operations = membersOf(item);
    for (const [key, method] of methods) {
      const { operationId, summary, tags } = wholeOperation(operations, key);
      if (operationId === undefined) continue;
      const [tag = 'others'] = Array.isArray(tags) ? tags.map(textOf) : [];
      const listed = { id: textOf(operationId), method, path, summary: textOf(summary) };
      const known = byTag.get(tag);
      if (known === undefined) byTag.set(tag, [listed]);
      else known.push(listed);
    }
  }
  const { title, description } = membersOf(document.info);
  const descriptions = new Map(described.map((tag) => [textOf(tag.name), textOf(tag.description)]));
  const tags = [...byTag].map(([name, operations]) => ({
    name,
    description: descriptions.get(name) ?? '',
    operations,
  }));
  return { title: textOf(title), description: textOf(description), tags: tags.filter((tag) => tag.operations.length) };
}

/**
 * The value that a reference leads to; any other value as it is.
 *
 * @param {Members} document
 * @param {unknown} value
 * @returns {unknown}
 */
function follow(document, value) {
  const reference = textOf(membersOf(value).$ref);
  if (reference === '') return value;
  const names = reference
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = names.reduce((/** @type {unknown} */ within, name) => membersOf(within)[name], document);
  if (found === undefined) throw new Error(`The document has no "${reference}".`);
  return follow(document, found);
}

/**
 * An operation with what SEARCH has in common with GET, which takes its parameters in the body.
 *
 * @param {Members} item
 * @param {string} key
 * @returns {Members}
 */
function wholeOperation(item, key) {
  const operation = membersOf(item[key]);
  const isShort = key === 'x-platform-search' && operation.operationId !== undefined && operation.tags === undefined;
  if (!isShort) return operation;
  const { parameters: _, responses, ...common } = membersOf(item.get);
  return { ...common, ...operation, responses: { ...membersOf(responses), ...membersOf(operation.responses) } };
}

/**
 * An operation whose parameters, body and answers are no references; schemas stay as they are.
 *
 * @param {Members} document
 * @param {string} path
 * @param {string} method
 */
function operationOf(document, path, method) {
  const item = membersOf(membersOf(document.paths)[path]);
  const [key = ''] = [...methods].find(([, name]) => name === method) ?? [];
  const operation = wholeOperation(item, key);
  const [ofPath = [], own = []] = [item.parameters, operation.parameters].map((list) => {
    return (Array.isArray(list) ? list : []).map((parameter) => membersOf(follow(document, parameter)));
  });
  // Those that form an answer stand in the body of SEARCH.
  const parameters = [...ofPath.filter((parameter) => method !== 'SEARCH' || parameter.in === 'path'), ...own];
  const responses = Object.entries(membersOf(operation.responses)).map(([status, response]) => {
    const whole = membersOf(follow(document, response));
    const headers = Object.entries(membersOf(whole.headers)).map(([name, header]) => [name, follow(document, header)]);
    return [status, { ...whole, headers: Object.fromEntries(headers) }];
  });
  return {
    ...operation,
    parameters,
    requestBody: follow(document, operation.requestBody),
    responses: Object.fromEntries(responses),
  };
}

/** Members of members that an example has: related items would have related items. */
const deepest = 3;

/**
 * An example of a schema with the members that are required.
 *
 * @param {Members} document
 * @param {unknown} schema
 * @param {number} depth
 * @returns {unknown}
 */
function exampleOf(document, schema, depth = 0) {
  const found = membersOf(follow(document, schema));
  for (const given of [found.example, found.default, found.const]) if (given !== undefined) return given;
  const [first] = Array.isArray(found.enum) ? found.enum : [];
  if (first !== undefined) return first;
  const [alternative] = [found.anyOf, found.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (alternative !== undefined) return exampleOf(document, alternative, depth);
  if (Array.isArray(found.allOf)) {
    const { allOf, ...own } = found;
    return Object.assign({}, ...[...allOf, own].map((part) => membersOf(exampleOf(document, part, depth))));
  }
  const [type] = [found.type].flat();
  if (type === 'array') return depth > deepest ? [] : [exampleOf(document, found.items, depth + 1)];
  if (type === 'integer' || type === 'number') return found.minimum ?? 0;
  if (type === 'boolean') return false;
  if (type !== 'object' && found.properties === undefined) return type === 'string' ? '' : null;
  const required = Array.isArray(found.required) && depth <= deepest ? found.required.map(textOf) : [];
  const properties = membersOf(found.properties);
  return Object.fromEntries(required.map((name) => [name, exampleOf(document, properties[name], depth + 1)]));
}

/**
 * @param {Members} question
 * @returns {Promise<unknown>}
 */
async function answer({ kind, token, path, method, reference, schema }) {
  if (kind === 'index') {
    reading = read(textOf(token));
    return indexOf(await reading);
  }
  const document = await reading;
  if (kind === 'operation') return operationOf(document, textOf(path), textOf(method));
  if (kind === 'schema') return follow(document, { $ref: reference });
  return exampleOf(document, schema);
}

addEventListener('message', async ({ data }) => {
  const { id, ...question } = membersOf(data);
  try {
    postMessage({ id, result: await answer(question) });
  } catch (error) {
    postMessage({ id, problem: error instanceof Error ? error.message : String(error) });
  }
});
