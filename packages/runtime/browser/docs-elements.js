/** Elements that the documentation page makes. All texts are texts: nothing of a document becomes markup. */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {{ readonly [attribute: string]: string }} attributes
 * @param {readonly (Node | string)[]} content
 * @returns {HTMLElementTagNameMap[K]}
 */
export function create(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...content);
  return element;
}

/**
 * Text with the words between backticks as code.
 *
 * @param {string} text
 * @returns {readonly (Node | string)[]}
 */
export function prose(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? create('code', {}, part) : part));
}

/**
 * Something that is made when it is opened first.
 *
 * @param {readonly (Node | string)[]} summary
 * @param {() => Promise<readonly Node[]> | readonly Node[]} make
 * @param {{ readonly [attribute: string]: string }} attributes
 */
export function lazily(summary, make, attributes = {}) {
  const details = create('details', attributes, create('summary', {}, ...summary));
  details.addEventListener('toggle', () => void fill(), { once: true });
  async function fill() {
    try {
      details.append(...(await make()));
    } catch (error) {
      details.append(create('p', { class: 'problem' }, error instanceof Error ? error.message : String(error)));
    }
  }
  return details;
}

/**
 * Lines of text as they are. It takes the focus, so that it can be scrolled with the keyboard.
 *
 * @param {string} text
 * @param {string} label
 */
export function lines(text, label) {
  return create('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text);
}
