/** The OpenAPI document, as the page asks the thread that holds it. */

/** @import { Index, Members } from './docs-worker.js' */

/** @typedef {{ readonly resolve: (result: unknown) => void, readonly reject: (reason: Error) => void }} Waiting */

/** @type {Map<number, Waiting>} */
const waiting = new Map();
let questions = 0;
const worker = new Worker(trusted('docs/docs-worker.js'), { type: 'module' });

worker.addEventListener('message', ({ data }) => {
  const { resolve, reject } = waiting.get(data.id) ?? {};
  waiting.delete(data.id);
  if (data.problem === undefined) resolve?.(data.result);
  else reject?.(new Error(data.problem));
});

/**
 * The policy of the page lets scripts come of no text but this one.
 *
 * @param {string} address
 * @returns {string}
 */
function trusted(address) {
  const types = Reflect.get(globalThis, 'trustedTypes');
  return types === undefined
    ? address
    : types.createPolicy('docs', { createScriptURL: () => address }).createScriptURL(address);
}

/**
 * @param {object} question
 * @returns {Promise<any>}
 */
function ask(question) {
  questions += 1;
  const id = questions;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, ...question });
  });
}

/**
 * Reads the document of the holder of a token, which is the one that everything else is asked of.
 *
 * @param {string} token
 * @returns {Promise<Index>}
 */
export function readIndex(token) {
  return ask({ kind: 'index', token });
}

/**
 * @param {string} path
 * @param {string} method
 * @returns {Promise<Members>}
 */
export function readOperation(path, method) {
  return ask({ kind: 'operation', path, method });
}

/**
 * The schema that a reference leads to.
 *
 * @param {string} reference
 * @returns {Promise<Members>}
 */
export function readSchema(reference) {
  return ask({ kind: 'schema', reference });
}

/**
 * An example of a body, with the members that are required.
 *
 * @param {unknown} schema
 * @returns {Promise<unknown>}
 */
export function readExample(schema) {
  return ask({ kind: 'example', schema });
}
