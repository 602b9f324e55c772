/** QR codes, drawn where they are shown: what they hold is secret and shall be no part of any address. */
import { encode } from 'uqr';

/**
 * Draws a text into an empty element, with the margin of four modules that readers need.
 *
 * @param {SVGSVGElement} svg
 * @param {string} content
 */
export function drawQrCode(svg, content) {
  const { data, size } = encode(content, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', squares.join(''));
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  svg.replaceChildren(path);
}
