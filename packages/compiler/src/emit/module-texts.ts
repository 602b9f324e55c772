/** Texts of generated modules. */

import { commentText } from '../print/text.ts';
import type { Render, TemplateName } from './templates.ts';

/** Parts of a module. */
export interface ModuleText {
  readonly imports: string;
  readonly declarations: string;
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
