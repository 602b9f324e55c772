import type { Column } from '@tablewright/introspect/schema';
import type { ConstantDefault } from '@tablewright/runtime/language';

const quoted = /^(E?)'((?:[^']|'')*)'(?:::[\w ".,()[\]]+)?$/;
const bare = /^(?:-?\d+(?:\.\d+)?|true|false)$/;

/**
 * The default of a column when it is a constant. Undefined for expressions that must be computed: a read never does
 * that, because they may have effects.
 *
 * Constants are printed as `5`, `true`, `'text'::type`, and `E'a\\b'::type` when there is a backslash.
 */
export function constantDefault({ fill, nativeType, type }: Column): ConstantDefault | undefined {
  if (fill.kind !== 'default') return undefined;
  // The modifier of an extension's type has a spelling that only the extension knows.
  if (type.category === 'extension' && nativeType.endsWith(')')) return undefined;
  const text = bare.test(fill.expression) ? fill.expression : quotedText(fill.expression);
  return text === undefined ? undefined : { text, type: nativeType };
}

function quotedText(expression: string): string | undefined {
  const [, escapes, inner] = quoted.exec(expression) ?? [];
  const text = inner?.replaceAll("''", "'");
  return escapes === 'E' ? text?.replaceAll('\\\\', '\\') : text;
}
