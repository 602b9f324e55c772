import { expect, test } from 'vitest';
import type { CheckRow, ColumnRow } from './catalog.ts';
import { allowedOf } from './columns.ts';

const place = { table_schema: 'shop', table_name: 'users' };

function column(name: string, collation: string | null): ColumnRow {
  return {
    ...place,
    column_name: name,
    ordinal_position: 1,
    column_default: null,
    is_nullable: 'YES',
    data_type: 'varchar',
    column_type: 'varchar(16)',
    character_maximum_length: 16,
    numeric_precision: null,
    numeric_scale: null,
    datetime_precision: null,
    srs_id: null,
    srs_planar: null,
    collation_name: collation,
    extra: '',
    column_comment: '',
    generation_expression: null,
  };
}

const columns = [column('status', 'utf8mb4_nopad_bin'), column('folded', 'utf8mb4_general_ci'), column('n', null)];

function allowed(clause: string) {
  const row: CheckRow = { ...place, constraint_name: 'c', check_clause: clause, enforced: 'YES' };
  return allowedOf(row, columns);
}

test.each([
  ["`status` in ('draft','it''s')", ['draft', "it's"]],
  ["(`status` in ('draft','invited'))", ['draft', 'invited']],
  ["(`status` in (_utf8mb4\\'draft\\',_utf8mb4\\'invited\\'))", ['draft', 'invited']],
])('%s is a list', (clause, values) => {
  expect(allowed(clause)).toEqual({ column: 'status', values });
});

test.each([
  "`folded` in ('a','b')",
  '`n` in (1,2)',
  "`status` in ('a') or `n` > 1",
  "`status` not in ('a')",
  "`other` in ('a')",
  'json_valid(`status`)',
  "`status` in ('a','????')",
])('%s is none', (clause) => {
  expect(allowed(clause)).toBeNull();
});
