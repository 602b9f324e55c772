/** A schema to read: its members are opened one by one, because schemas of related items have no end. */
import { readSchema } from './docs-document.js';
import { create, lazily, prose } from './docs-elements.js';
import { member, text } from './request.js';

/** Keywords that are shown as they are. */
const facts = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'default',
  'contentMediaType',
  'readOnly',
  'writeOnly',
];

/**
 * The members of a schema that is no reference.
 *
 * @param {unknown} schema
 * @returns {readonly Node[]}
 */
export function schemaView(schema) {
  const children = childrenOf(schema);
  return children.length === 0 ? [] : [create('ul', { class: 'members' }, ...children)];
}

/**
 * One line of a list: a name, a type, what is said of it, and what it is made of, to be opened.
 *
 * @param {string} name
 * @param {unknown} schema
 * @param {{ readonly required?: boolean, readonly description?: string }} more
 */
export function schemaLine(name, schema, { required = false, description = text(schema, 'description') } = {}) {
  const line = [
    create('code', { class: 'name' }, name),
    ' ',
    create('span', { class: 'type' }, typeOf(schema)),
    ...(required ? [' ', create('strong', {}, 'required')] : []),
  ];
  const said = [...(description === '' ? [] : [create('p', {}, ...prose(description))]), ...factsOf(schema)];
  const reference = text(schema, '$ref');
  if (reference === '' && childrenOf(schema).length === 0) return create('li', {}, ...line, ...said);
  const open = async () => schemaView(reference === '' ? schema : await readSchema(reference));
  return create('li', {}, lazily(line, open), ...said);
}

/**
 * @param {unknown} schema
 * @returns {readonly Node[]}
 */
function childrenOf(schema) {
  const required = list(schema, 'required');
  const properties = Object.entries(member(schema, 'properties') ?? {});
  const items = member(schema, 'items');
  const others = member(schema, 'additionalProperties');
  return [
    ...properties.map(([name, child]) => schemaLine(name, child, { required: required.includes(name) })),
    ...list(schema, 'prefixItems').map((child, index) => schemaLine(`element ${index + 1}`, child)),
    ...(isComposed(items) ? [schemaLine('each element', items)] : []),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
      list(schema, keyword).map((child, index) => schemaLine(`${composed.get(keyword)} ${index + 1}`, child)),
    ),
    ...(isComposed(others) ? [schemaLine('any other name', others)] : []),
  ];
}

const composed = new Map([
  ['anyOf', 'possibility'],
  ['oneOf', 'alternative'],
  ['allOf', 'part'],
]);

/** @param {unknown} schema */
function isComposed(schema) {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length > 0;
}

/**
 * @param {unknown} schema
 * @param {string} name
 * @returns {readonly unknown[]}
 */
function list(schema, name) {
  const value = member(schema, name);
  return Array.isArray(value) ? value : [];
}

/**
 * The type in a few words.
 *
 * @param {unknown} schema
 * @returns {string}
 */
export function typeOf(schema) {
  const reference = text(schema, '$ref');
  if (reference !== '') return reference.split('/').at(-1) ?? '';
  const [type = '', ...others] = [member(schema, 'type')].flat().filter((name) => name !== null);
  const all = [type, ...others].join(' or ');
  if (type === 'array' && isComposed(member(schema, 'items'))) {
    return all.replace('array', `array of ${typeOf(member(schema, 'items'))}`);
  }
  if (all !== '') return all;
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => list(schema, keyword));
  return parts.length === 0 ? 'anything' : [...new Set(parts.map(typeOf))].join(' or ');
}

/**
 * @param {unknown} schema
 * @returns {readonly Node[]}
 */
function factsOf(schema) {
  const values = [...list(schema, 'enum'), ...[member(schema, 'const')].filter((value) => value !== null)];
  const said = facts.flatMap((name) => {
    const value = member(schema, name);
    return value === null ? [] : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  const all = [
    ...(values.length === 0 ? [] : [`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`]),
    ...said,
  ];
  return all.length === 0 ? [] : [create('p', { class: 'facts' }, all.join(' · '))];
}
