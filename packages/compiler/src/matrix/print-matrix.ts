/** The table of rights as text, Markdown, CSV and one HTML page. Nothing but the table decides about the bytes. */

import { visible } from '@tablewright/introspect';
import type { Permission, Schema } from '@tablewright/introspect/schema';
import { operandText } from '../print/condition.ts';
import {
  grantingRules,
  type Matrix,
  type MatrixCollection,
  type MatrixFunctions,
  type MatrixRight,
  matrixOf,
  ruleText,
} from './matrix.ts';

/** Formats of the table. */
export const matrixFormats = ['text', 'markdown', 'csv', 'html'] as const;

/** One of `matrixFormats`. */
export type MatrixFormat = (typeof matrixFormats)[number];

/** Prints who may do what. Ends with a line break. */
export function printMatrix(schema: Schema, format: MatrixFormat): string {
  switch (format) {
    case 'text':
      return printText(matrixOf(schema));
    case 'markdown':
      return printMarkdown(matrixOf(schema));
    case 'csv':
      return printCsv(schema);
    case 'html':
      return printHtml(matrixOf(schema));
  }
}

const legend = 'r read, c create, u update, d delete; a number names the condition below that rows must meet.';

function cellText(permissions: readonly MatrixRight[]): string {
  const byAction = Map.groupBy(permissions, ({ action }) => action);
  return [...byAction]
    .map(([action, rules]) => {
      // A rule without a condition covers the others.
      const numbers = rules.some(({ condition }) => condition === null) ? [] : rules.map(({ condition }) => condition);
      return `${action[0]}${[...new Set(numbers)].join(',')}`;
    })
    .join(' ');
}

/** One table: of a collection, or of all functions. */
interface Section {
  readonly name: string;
  readonly lines: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

function sectionsOf({ collections, functions, roles }: Matrix): readonly Section[] {
  return [
    ...collections.map((collection) => collectionSection(collection, roles)),
    ...(functions === null ? [] : [functionSection(functions, roles)]),
  ];
}

function collectionSection({ name, rows, conditions, presets }: MatrixCollection, roles: Matrix['roles']): Section {
  return {
    name,
    lines: [['field', ...roles], ...rows.map(({ field, cells }) => [field, ...cells.map((c) => cellText(c) || '-')])],
    notes: [...conditions.map((text, index) => `${index + 1}: ${text}`), ...presets.map((text) => `set by ${text}`)],
  };
}

function functionSection({ rows, args }: MatrixFunctions, roles: Matrix['roles']): Section {
  return {
    name: 'Functions',
    lines: [['function', ...roles], ...rows.map(({ name, cells }) => [name, ...cells.map((c) => (c ? 'call' : '-'))])],
    notes: args.map((text) => `set for ${text}`),
  };
}

function tailOf({ administrators, closed }: Matrix, print: (name: string) => string): readonly string[] {
  const list = (names: readonly string[]): string => names.map(print).join(', ');
  return [
    `Everything: ${list(administrators)}.`,
    ...(closed.length > 0 ? [`For administrators only: ${list(closed)}.`] : []),
  ];
}

function printText(matrix: Matrix): string {
  const parts = sectionsOf(matrix).map(({ name, lines, notes }) => {
    const widths =
      lines[0]?.map((_, column) => Math.max(...lines.map((line) => visible(line[column] ?? '').length))) ?? [];
    const table = lines.map((line) =>
      `  ${line.map((cell, column) => visible(cell).padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    );
    return [visible(name), ...table, ...notes.map((note) => `  ${visible(note)}`), ''].join('\n');
  });
  return [legend, '', ...parts, ...tailOf(matrix, visible), ''].join('\n');
}

function printMarkdown(matrix: Matrix): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(markdown).join(' | ')} |`;
  const parts = sectionsOf(matrix).flatMap(({ name, lines: [head = [], ...rows], notes }) => [
    `## ${markdown(name)}`,
    '',
    line(head),
    `|${' --- |'.repeat(head.length)}`,
    ...rows.map(line),
    '',
    ...notes.map((note) => `- ${markdown(note)}`),
    ...(notes.length > 0 ? [''] : []),
  ]);
  return ['# Permissions', '', legend, '', ...parts, ...tailOf(matrix, markdown), ''].join('\n');
}

/** One line for each right: role, collection, action, field, rows, preset. Rules of one action stay apart. */
function printCsv(schema: Schema): string {
  const lines = grantingRules(schema).flatMap((rule) => {
    const fields = rule.action === 'delete' ? [''] : rule.fields;
    const set = rule.presets.filter(({ field }) => !rule.fields.includes(field)).map(({ field }) => field);
    const text = ruleText(rule);
    return [...fields, ...set].map((field) => csvLine(rule, field, text));
  });
  const calls = (schema.calls ?? []).flatMap(({ role, function: name, args }) => [
    [role, name, 'call', '', '', ''],
    ...args.map((argument) => [role, name, 'call', argument.name, '', operandText(argument.value)]),
  ]);
  const called = calls.map((cells) => `${cells.map(csvCell).join(',')}\n`);
  return `role,collection,action,field,rows,preset\n${lines.join('')}${called.join('')}`;
}

function csvLine(rule: Permission, field: string, rows: string): string {
  const preset = rule.presets.find((entry) => entry.field === field);
  const value = preset === undefined ? '' : operandText(preset.value);
  return `${[rule.role, rule.collection, rule.action, field, rows, value].map(csvCell).join(',')}\n`;
}

/** As RFC 4180 has it; a text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvCell(text: string): string {
  const seen = visible(text);
  const plain = /^[=+\-@＝＋－＠]/.test(seen) ? `'${seen}` : seen;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function printHtml(matrix: Matrix): string {
  const cells = (tag: string, texts: readonly string[]): string =>
    `<tr>${texts.map((text) => `<${tag}>${html(text)}</${tag}>`).join('')}</tr>\n`;
  const parts = sectionsOf(matrix).map(({ name, lines: [head = [], ...rows], notes: texts }) => {
    const notes = texts.map((note) => `<li>${html(note)}</li>`);
    return (
      `<h2>${html(name)}</h2>\n<table>\n<thead>${cells('th', head)}</thead>\n<tbody>\n` +
      `${rows.map((row) => cells('td', row)).join('')}</tbody>\n</table>\n` +
      (notes.length > 0 ? `<ul>${notes.join('')}</ul>\n` : '')
    );
  });
  const tail = tailOf(matrix, html).map((text) => `<p>${text}</p>\n`);
  return (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Permissions</title>\n' +
    `<style>${style}</style>\n</head>\n<body>\n<h1>Permissions</h1>\n<p>${legend}</p>\n` +
    `${parts.join('')}${tail.join('')}</body>\n</html>\n`
  );
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#1a1a1a;background:#fff}' +
  'table{border-collapse:collapse}th,td{border:1px solid #767676;padding:.2rem .6rem;text-align:left}' +
  'th{position:sticky;top:0;background:#eee}ul{padding-left:1.2rem}';

function html(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** As code, in which nothing but the backtick has a meaning, and in tables the pipe. */
function markdown(text: string): string {
  const plain = visible(text).replaceAll('|', '\\|');
  return plain.includes('`') ? `\`\` ${plain} \`\`` : `\`${plain}\``;
}
