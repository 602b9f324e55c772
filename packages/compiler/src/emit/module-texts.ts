/** Texts of generated modules, remembered as `remember.ts` does, also in a disk cache. */

import { createCache } from '../cache/remember.ts';
import { textOfChunk } from '../print/chunks.ts';
import { commentText } from '../print/text.ts';
import type { Render, TemplateName } from './templates.ts';

/** Parts of a module. */
export interface ModuleText {
  readonly imports: string;
  readonly declarations: string;
}

/** Makes a cache of modules of one kind; no two have the same `generator`. */
export function createModuleCache(generator: string) {
  return createCache<ModuleText>({
    generator,
    texts: ({ imports, declarations }) => [imports, declarations],
    made: ([imports = '', declarations = '']) => ({
      imports: textOfChunk(imports),
      declarations: textOfChunk(declarations),
    }),
  });
}

interface Rendered {
  readonly render: Render;
  readonly about: string;
  readonly text: string;
}

const rendered = new WeakMap<ModuleText, readonly Rendered[]>();

/**
 * Text of a module by the template of its kind, under a heading. It is one string for as long as the module is one
 * object. So the writer of files sees at once that it is the same.
 */
export function renderModule(render: Render, template: TemplateName, about: string, module: ModuleText): string {
  const all = rendered.get(module)?.filter((entry) => entry.render === render) ?? [];
  const cached = all.find((entry) => entry.about === about);
  if (cached !== undefined) return cached.text;
  const text = render(template, { about: commentText(about), ...module });
  rendered.set(module, [...all, { render, about, text }]);
  return text;
}
