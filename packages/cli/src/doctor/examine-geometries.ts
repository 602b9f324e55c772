/** Findings about indexes of geometries. Pure. */
import type { Column, Schema, Table } from '@tablewright/introspect/schema';
import { dialectFacts, printTable } from '@tablewright/runtime/language';
import type { Finding } from '../sources/finding.ts';
import { quotedName, quotedTable } from '../sources/quoted.ts';

/** Looks at the geometries of a stored table: shapes need an index, and distances on the earth one of geographies. */
export function examineGeometries({ dialect }: Schema, table: Table): readonly Finding[] {
  const spatial = table.indexes.filter(({ method }) => /^(?:sp-?gist|gist|brin|spatial|rtree)$/i.test(method));
  const keys = spatial.flatMap(({ columns }) => columns);
  return table.columns
    .filter(({ type }) => type.portable === 'geometry')
    .flatMap((column) => {
      const finding = (purpose: string, expression: string): Finding => ({
        check: 'geo-index-missing',
        severity: 'note',
        message: `No index of ${printTable(dialect, table.id)} serves ${purpose} of "${column.name}".`,
        advice: indexSql(dialect, table, expression),
      });
      const name = quotedName(dialect, column.name);
      const isOfEarth = (key: string): boolean => /geography/.test(key) && key.includes(column.name);
      return [
        ...(keys.includes(column.name) ? [] : [finding('shapes and boxes', name)]),
        ...(isMeasured(column) && !keys.some(isOfEarth) ? [finding('distances', `(${name}::geography)`)] : []),
      ];
    });
}

/** True if distances are those of geographies that are made of the column. */
function isMeasured({ type: { category, base, geometry } }: Column): boolean {
  return category === 'extension' && geometry?.srid === 4326 && !/\bgeography"?$/.test(base);
}

function indexSql(dialect: Schema['dialect'], table: Table, expression: string): string {
  const name = quotedTable(dialect, table);
  return dialectFacts[dialect].namesIndexes
    ? `CREATE INDEX ON ${name} USING gist (${expression});`
    : `ALTER TABLE ${name} ADD SPATIAL INDEX (${expression});`;
}
