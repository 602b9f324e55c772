/** Parameters of the address of the page. */

/**
 * A parameter of the address; null where it has none. The address loses all its parameters: what they hold shall
 * neither stand in the history of the browser nor be seen or passed on with the address.
 *
 * @param {string} name
 */
export function takeParameter(name) {
  const value = new URLSearchParams(location.search).get(name);
  history.replaceState(null, '', location.pathname);
  return value === '' ? null : value;
}
