import { describe, expect, test } from 'vitest';
import type { FunctionConfig } from '../config/config.ts';
import { compareFacts } from '../difference/compare-facts.ts';
import type { Routine } from '../schema.ts';
import { facts } from '../testing/facts.ts';
import { complaints, resolveFacts } from '../testing/resolve.ts';
import { routinesOf } from './functions.ts';

const integer = {
  ...({ portable: 'integer', base: 'int4', category: 'base', domains: [], element: null, enum: null } as const),
  ...{ values: null, maxLength: null, precision: null, scale: null },
};

function routine(name: string, types: readonly string[], more: Partial<Routine> = {}): Routine {
  return {
    schema: more.schema ?? 'public',
    name,
    signature: `${more.schema ?? 'public'}.${name}(${types.join(', ')})`,
    kind: 'function',
    reads: true,
    arguments: types.map((nativeType, index) => ({
      ...{ name: `a${index}`, nativeType, type: integer, optional: false },
    })),
    returns: { kind: 'nothing' },
    comment: null,
    ...more,
  };
}

const routines = [
  routine('total', ['integer']),
  routine('total', ['integer', 'double precision']),
  routine('place', ['jsonb'], { schema: 'shop' }),
  routine('place', [], { schema: 'other' }),
  routine('any', [], { unsupported: 'returns "record"' }),
  routine('open', [], { definer: 'open' }),
  routine('closed', [], { definer: 'fixed' }),
  routine('paint', []),
  routine('touch', [], {
    ...{ reads: false, returns: { kind: 'rows', many: true, table: 'public.logs', members: [] } },
  }),
];

function resolve(functions: Readonly<Record<string, FunctionConfig>>, permissions = '') {
  const tables = facts({ shops: { columns: ['id!:integer'], key: ['id'] }, logs: { columns: ['line'] } });
  return resolveFacts({ ...tables, routines }, { config: { functions }, permissions });
}

describe('functions of the configuration', () => {
  test('are found by name, schema and types', () => {
    const { schema, diagnostics } = resolve({
      'total(integer,double precision)': {},
      'public.total( integer )': { name: 'sum' },
      'shop.place': {},
    });
    expect(complaints(diagnostics)).toEqual([]);
    expect(schema.functions?.map((served) => [served.name, served.routine.signature])).toEqual([
      ['shop_place', 'shop.place(jsonb)'],
      ['sum', 'public.total(integer)'],
      ['total', 'public.total(integer, double precision)'],
    ]);
  });

  test.each([
    [{ total: {} }, 'error function-ambiguous platform.config.ts: functions.total'],
    [{ place: {} }, 'error function-ambiguous platform.config.ts: functions.place'],
    [{ plaint: {} }, 'error function-unknown platform.config.ts: functions.plaint'],
    [{ any: {} }, 'error function-unsupported platform.config.ts: functions.any'],
    [{ touch: {} }, 'error function-unsupported platform.config.ts: functions.touch'],
    [{ paint: {}, closed: { name: 'paint' } }, 'error function-name-taken platform.config.ts: functions.closed'],
    [{ open: {} }, 'warning function-definer platform.config.ts: functions.open'],
  ])('%j: %s', (functions, complaint) => {
    const { diagnostics } = resolve(functions);
    expect(complaints(diagnostics)).toEqual([complaint]);
  });

  test.each([
    ['plaint', 'Did you mean "paint"?'],
    ['shop.pace', 'Did you mean "shop.place"?'],
  ])('an unknown one such as %s names the nearest', (key, hint) => {
    const { diagnostics } = resolve({ [key]: {} });
    expect(diagnostics.find(({ code }) => code === 'function-unknown')?.hint).toBe(hint);
  });

  test('the statement that sets a path quotes names', () => {
    const { diagnostics } = resolve({ open: {} });
    const hint = 'ALTER ROUTINE "public"."open"() SET search_path = pg_catalog, pg_temp;';
    expect(diagnostics.find(({ code }) => code === 'function-definer')?.hint).toBe(hint);
  });

  test('the others are named', () => {
    const { diagnostics } = resolve({ paint: {}, 'total(integer)': {}, closed: {}, open: {} });
    const notServed = diagnostics.filter(({ code }) => code === 'function-not-served');
    expect(notServed.map(({ place, message }) => [place, message])).toEqual([
      ['schema public', '3 functions are left to the database: "any", "total", "touch".'],
      ['schema shop', 'One function is left to the database: "place".'],
      ['schema other', 'One function is left to the database: "place".'],
    ]);
  });

  test('a function that fixes its path needs no warning', () => {
    expect(complaints(resolve({ closed: {} }).diagnostics)).toEqual([]);
  });
});

describe('computed fields', () => {
  const score = (more: Partial<Routine> = {}, row: Partial<Routine> = { row: 'public.shops' }) =>
    routine('score', ['shops'], {
      ...{ arguments: [{ name: '', nativeType: 'shops', type: integer, optional: false }], ...row },
      ...{ returns: { kind: 'value', many: false, value: { name: 'value', nativeType: 'integer', type: integer } } },
      ...more,
    });
  function resolveField(made: Routine, functions: Readonly<Record<string, FunctionConfig>>, permissions = '') {
    const tables = facts({ shops: { columns: ['id!:integer', 'name'], key: ['id'] }, logs: { columns: ['line'] } });
    return resolveFacts({ ...tables, routines: [made] }, { config: { functions }, permissions });
  }
  const field = { score: { field: 'shops.score' } };

  test('stand after the columns, and the schema gives them again', () => {
    const { schema, diagnostics } = resolveField(score(), field);
    expect(complaints(diagnostics)).toEqual([]);
    expect(schema.functions).toBeUndefined();
    expect(schema.collections.find(({ name }) => name === 'shops')?.fields.map(({ name }) => name)).toEqual([
      ...['id', 'name', 'score'],
    ]);
    const again = resolveFacts(
      { ...schema, routines: routinesOf(schema), diagnostics: [] },
      { config: { functions: field } },
    );
    expect(again.schema.tables).toEqual(schema.tables);
    expect(
      compareFacts(schema, {
        ...schema,
        tables: facts({ shops: { columns: ['id!:integer', 'name'], key: ['id'] }, logs: { columns: ['line'] } }).tables,
      }),
    ).toEqual([]);
  });

  test.each<[string, Partial<Routine>, string, string]>([
    ['volatile', { reads: false }, 'shops.score', 'function-unsupported'],

    ['of rows of another table', {}, 'logs.score', 'function-unsupported'],
    ['without one value', { returns: { kind: 'nothing' } }, 'shops.score', 'function-unsupported'],
    ['unsupported for all', { unsupported: 'is variadic' }, 'shops.score', 'function-unsupported'],
    ['with the name of a column', {}, 'shops.name', 'function-name-taken'],
    ['of an unknown collection', {}, 'shop.score', 'unknown-name'],
    ['without a collection', {}, 'score', 'unknown-name'],
  ])('cannot be %s', (_, more, name, code) => {
    const { diagnostics } = resolveField(score(more), { score: { field: name } });
    expect(complaints(diagnostics)).toEqual([`error ${code} platform.config.ts: functions.score`]);
  });

  test('have their name in their place alone', () => {
    const { diagnostics } = resolveField(score(), { score: { ...field.score, name: 'rank' } });
    expect(complaints(diagnostics)).toEqual(['error config-function platform.config.ts: functions.score.name']);
  });

  test('take a row', () => {
    const { diagnostics } = resolveField(score({}, {}), field);
    expect(complaints(diagnostics)).toEqual(['error function-unsupported platform.config.ts: functions.score']);
  });

  test('are no part of a key', () => {
    const tables = facts({ shops: { columns: ['name'] } });
    const config = { functions: field, collections: { shops: { key: ['score'] } } };
    const { diagnostics } = resolveFacts({ ...tables, routines: [score()] }, { config });
    expect(complaints(diagnostics)).toContain('error function-unsupported platform.config.ts: functions.score');
  });

  test('are no functions to call, as their argument has no name', () => {
    const { diagnostics } = resolveField(score(), { score: {} });
    expect(complaints(diagnostics)).toEqual(['error function-unsupported platform.config.ts: functions.score']);
  });

  test('warn of classes that read them, and not every column', () => {
    const text = `roles: { clerk: {}, boss: { admin: true }, all: {} }
permissions:
  clerk: { shops: { read: [{ fields: [id, score] }, { fields: ['*'], filter: { id: { _eq: 1 } } }] } }
  all: { shops: { read: true } }
  public: { shops: { read: { fields: [id, name] } } }`;
    const { diagnostics } = resolveField(score(), field, text);
    const [warning, ...others] = diagnostics.filter(({ code }) => code === 'computed-reads-hidden');
    expect(warning?.message).toBe('"clerk" reads "shops.score", which sees the whole row, but not every column of it.');
    expect(others).toEqual([]);
  });
});

describe('rights to call', () => {
  const permissions = (text: string) => `roles: { clerk: {} }\nfunctions:\n${text}`;

  test('are names, or names with arguments that the server sets', () => {
    const text = permissions('  public: [paint]\n  clerk: { "total": { args: { a0: 7 } }, paint: true }');
    const { schema, diagnostics } = resolve({ 'total(integer)': {}, paint: {} }, text);
    expect(complaints(diagnostics)).toEqual([]);
    expect(schema.calls).toEqual([
      { role: 'clerk', function: 'paint', args: [] },
      { role: 'clerk', function: 'total', args: [{ name: 'a0', value: { kind: 'literal', value: 7 } }] },
      { role: 'public', function: 'paint', args: [] },
    ]);
  });

  test.each([
    ['  clerk: [pant]', 'error function-unknown permissions.yaml:3:11'],
    ['  clerks: [paint]\n  clerk: [paint]', 'error unknown-role permissions.yaml:3:3'],
    ['  clerk: { paint: { args: { b: 1 } } }', 'error function-argument permissions.yaml:3:29'],
    ['  clerk: { total: { args: { a0: seven } } }', 'error preset-value permissions.yaml:3:33'],
    ['  clerk: { paint: false, total: true }', 'error permissions-form permissions.yaml:3:19'],
  ])('%s: %s', (text, complaint) => {
    const { diagnostics } = resolve({ 'total(integer)': {}, paint: {} }, permissions(text));
    expect(complaints(diagnostics)).toEqual([complaint]);
  });
});
