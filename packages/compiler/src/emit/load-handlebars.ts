import { createRequire } from 'node:module';
import type HandlebarsModule from 'handlebars';

/** The template engine. */
export type Handlebars = typeof HandlebarsModule;

/** Loads handlebars when templates are compiled, so that nobody else waits for it. `require` says `any`. */
export function loadHandlebars(): Handlebars {
  return createRequire(import.meta.url)('handlebars');
}
