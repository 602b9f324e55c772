/** Vector of a column → how its values are read, written and compared. `{}` stands for the value. */
import type { ColumnType, Table } from '@tablewright/introspect/schema';
import type { VectorForm } from '@tablewright/runtime/language';
import type { NativeForm } from './native-form.ts';
import { quoteIdentifier, quoteQualified, splitQualified } from './quote.ts';

/** Metrics by the words of operator classes. */
const metrics: ReadonlyMap<string, VectorForm['metric']> = new Map([
  ['cosine', 'cosine'],
  ['l2', 'l2'],
  ['ip', 'inner'],
  ['l1', 'l1'],
]);

/** A vector of pgvector, whose operators lie in the schema of its types. */
export function pgvectorForm({ base, vector }: ColumnType): NativeForm {
  const { schema, name } = splitQualified(base);
  const { half = false, iterative = false } = vector ?? {};
  return {
    native: 'text',
    stored: `({})::${quoteQualified(schema, name)}`,
    wire: { kind: 'json', cast: '::pg_catalog.text::pg_catalog.json' },
    vector: {
      ...dimensionsOf(vector),
      ...(half && { half: true as const }),
      metric: 'cosine',
      library: `${quoteIdentifier(schema)}.`,
      ...(iterative && { iterative: true as const }),
    },
  };
}

/** A vector of a server without an extension. */
export function vectorTextForm({ vector }: ColumnType): NativeForm {
  return {
    native: 'text',
    stored: 'VEC_FromText({})',
    wire: { kind: 'json', cast: 'VEC_ToText({})' },
    vector: { ...dimensionsOf(vector), metric: 'cosine', metrics: ['cosine', 'l2'] },
  };
}

function dimensionsOf(vector: ColumnType['vector']): Pick<VectorForm, 'dimensions'> {
  return vector?.dimensions == null ? {} : { dimensions: vector.dimensions };
}

/** The form with the metric of the column's indexes: the usual one where they have several. */
export function withMetric(form: VectorForm, { indexes }: Table, column: string): VectorForm {
  const matching = indexes.filter(({ columns }) => columns.length === 1 && columns[0] === column);
  const found = matching.flatMap(({ distance }) => metrics.get(distance ?? '') ?? []);
  const [metric = form.metric] = found.includes(form.metric) ? [] : found;
  return { ...form, metric };
}
