import type { FileFormat } from './format.ts';
import { compactJson, plainText, type RawJson, type RawMember } from './raw-json.ts';

/**
 * YAML 1.2: a list of mappings with one line per field, nested objects indented. Scalars are written as in JSON, which
 * YAML reads alike; lists and objects inside lists are in JSON's form too, except the rows themselves.
 */
export const yaml: FileFormat = {
  start: '',
  row: (item) => `- ${item.kind === 'object' && item.members.length > 0 ? mapping(item.members, '  ') : flow(item)}\n`,
  end: (rows) => (rows === 0 ? '[]\n' : ''),
};

function mapping(members: readonly RawMember[], indent: string): string {
  return members.map(([name, value]) => `${key(name)}:${below(value, indent)}`).join(`\n${indent}`);
}

function below(value: RawJson, indent: string): string {
  if (value.kind !== 'object' || value.members.length === 0 || indent.length > deepest) return ` ${flow(value)}`;
  const inner = `${indent}  `;
  return `\n${inner}${mapping(value.members, inner)}`;
}

/** Spaces beyond which nesting is written in one line. */
const deepest = 40;

/** Words that are values in some version of YAML are quoted, as is everything that is no plain word. */
function key(name: string): string {
  const plain = /^[A-Za-z_][\w-]*$/.test(name) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(name);
  return plain ? name : scalar(JSON.stringify(name));
}

function flow(value: RawJson): string {
  if (value.kind === 'scalar') return scalar(value.text);
  if (value.kind === 'list') return `[${value.items.map(flow).join(', ')}]`;
  if (value.members.length === 0) return compactJson(value);
  return `{${value.members.map(([name, inner]) => `${scalar(JSON.stringify(name))}: ${flow(inner)}`).join(', ')}}`;
}

/** JSON may spell a character beyond the first plane as two escapes, which YAML would read as two characters. */
function scalar(text: string): string {
  return text.includes('\\u') ? JSON.stringify(plainText(text)) : text;
}
