import { parseExactly } from '@tablewright/runtime/language';
import { describe, expect, it } from 'vitest';
import { type RoleRow, type RuleRow, readPermissionRows } from '../own-rows.ts';
import { parsePermissions } from './parse-permissions.ts';
import { comparePermissions, printPermissions } from './plain-rules.ts';

const editor: RoleRow = { id: 'e', name: 'editor', description: 'Writes', admin: false, app: true };
const rule: RuleRow = {
  id: '1',
  role: 'e',
  collection: 'articles',
  action: 'read',
  permissions: null,
  validation: null,
  presets: null,
  fields: '*',
};
const file = (text: string) => parsePermissions(text, 'permissions.yaml').document;

describe('rows', () => {
  it('read as the file that says the same', () => {
    const rows = readPermissionRows(
      [editor, { id: 'a', name: 'admin', description: null, admin: true, app: true }],
      [
        rule,
        { ...rule, id: '2', role: null, fields: 'id, title', permissions: { title: { _neq: null }, id: 1 } },
        { ...rule, id: '3', action: 'update', fields: 'title', validation: {}, presets: { title: 'a', id: [1] } },
        { ...rule, id: '4', action: 'delete', fields: 'id', permissions: {} },
        { ...rule, id: '5', role: 'a' },
      ],
    );
    expect(rows.diagnostics).toEqual([]);
    const same = file(`
roles: { editor: { description: Writes, app: true } }
permissions:
  editor:
    articles:
      read: true
      update: { fields: [title], validation: {}, presets: { id: [1], title: a } }
      delete: true
  public: { articles: { read: { fields: [id, title], filter: { id: 1, title: { _neq: null } } } } }`);
    expect(comparePermissions(rows.document, same)).toEqual([]);
    expect(comparePermissions(file(printPermissions(rows.document)), same)).toEqual([]);
  });

  it('hold numbers beyond doubles with every digit, and are no texts', () => {
    const numbers = '[-9007199254740993, 0.1234567890123456789, 12345678901234567890.5, 1e400]';
    const text = (presets: string) =>
      `permissions: { public: { a: { create: { fields: "*", presets: ${presets} } } } }`;
    const written = file(text('{ j: [-9007199254740993, +.1234567890123456789, 012345678901234567890.5, 1e400] }'));
    const presets = parseExactly(`{"j":${numbers}}`);
    const { document } = readPermissionRows([], [{ ...rule, role: null, collection: 'a', action: 'create', presets }]);
    expect(comparePermissions(document, written)).toEqual([]);
    expect(printPermissions(document)).toContain(`presets: { j: ${numbers.replace('[', '[ ').replace(']', ' ]')} }`);
    expect(comparePermissions(file(printPermissions(document)), written)).toEqual([]);
    expect(comparePermissions(structuredClone(document), written)).toEqual([]);
    const quoted = file(text(`{ j: ${numbers.replaceAll(/[^[\], ]+/g, '"$&"')} }`));
    expect(comparePermissions(document, quoted)).toHaveLength(1);
  });

  it('that cannot be compiled are reported', () => {
    const { diagnostics } = readPermissionRows(
      [editor, { ...editor, id: 'f' }, { ...editor, id: 'p', name: 'public' }],
      [
        { ...rule, action: 'erase' },
        { ...rule, id: '2', action: 'update', presets: ['title'] },
        { ...rule, id: '3', permissions: JSON.parse(`${'{"_and":['.repeat(5_000)}${']}'.repeat(5_000)}`) },
      ],
    );
    expect(diagnostics.map(({ code, place }) => `${code} ${place}`)).toEqual([
      'role-name platform_roles f',
      'role-name platform_roles p',
      'permissions-form platform_permissions 1',
      'permissions-form platform_permissions 2',
      'permissions-form platform_permissions 3',
    ]);
  });
});

describe('documents', () => {
  it('differ in roles and in groups of rules', () => {
    const before = file('roles: { a: {}, b: { app: true } }\npermissions: { a: { x: { read: true } } }');
    const after = file('roles: { b: {}, c: {} }\npermissions: { b: { x: { read: [true, { fields: [id] }] } } }');
    const told = comparePermissions(before, after).map((one) =>
      one.kind === 'role' ? [one.before?.name, one.after?.name] : [one.before.length, one.after.length],
    );
    expect(told).toEqual([
      ['a', undefined],
      ['b', 'b'],
      [undefined, 'c'],
      [1, 0],
      [0, 2],
    ]);
  });

  it('are printed one action a line', () => {
    const text = `roles:
  editor:
    description: "true"
    app: true
permissions:
  editor:
    articles:
      delete: { filter: { id: 1 } }
      read: true
      update: [ { fields: [ title ] }, { fields: "*", presets: { title: a } } ]
`;
    expect(printPermissions(file(text))).toBe(text);
  });

  it('keeps comments where what they are about stays', () => {
    const before = `# Who may do what.

roles:
  # who writes
  editor: {} # beside
  gone: {} # goes with it
# rules
permissions:
  editor:
    # about articles
    articles:
      read: true # everything
      # careful
      update: { fields: [ title ] } # only this
# the end
`;
    const document = file(before.replace(/ {2}gone.*\n/, '').replace('[ title ]', '[ title, id ]'));
    const printed = printPermissions(document, before);
    const kept = before.replace(/ {2}gone.*\n/, '').replace('[ title ]', '[ title, id ]');
    expect(printed).toBe(kept.replace('# the end', '\n# the end'));
    expect(printPermissions(document, printed)).toBe(printed);
    expect(printPermissions(document, 'no: [ yaml: {')).not.toContain('#');
  });
});
