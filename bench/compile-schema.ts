/** The database that compiling is measured with, and roles over it. */

/** Tables of twelve columns; each points at two earlier ones. */
export function schemaOf(count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const name = tableName(index);
    const reference = (divisor: number): string =>
      index === 0 ? 'integer' : `integer REFERENCES ${tableName(Math.floor(index / divisor))} (id)`;
    return `CREATE TABLE ${name} (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, slug varchar(80) UNIQUE, body text,
      status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')), amount numeric(12,2), big bigint,
      happened_at timestamptz DEFAULT now(), flags boolean[], data jsonb,
      first_id ${reference(2)}, second_id ${reference(3)});
      COMMENT ON TABLE ${name} IS 'Table ${index} of the benchmark.';`;
  }).join('\n');
}

/** Tables that a role reads and writes. */
const tablesOfRole = 20;

/** permissions.yaml for so many roles, of which only so many differ in what they may do. */
export function permissionsOf(roles: number, classes: number, tables: number): string {
  const names = Array.from({ length: roles }, (_, at) => `role_${String(at).padStart(3, '0')}`);
  const rules = names.map((name, at) => `  ${name}:\n${rulesOf(at % classes, tables)}`);
  return `roles:\n${names.map((name) => `  ${name}: {}\n`).join('')}permissions:\n${rules.join('')}`;
}

/** Rules of one class: over tables of its own and some that others have, too. */
function rulesOf(number: number, tables: number): string {
  const own = Array.from({ length: Math.min(tablesOfRole, tables) }, (_, at) => (number * 7 + at) % tables);
  return own
    .map(
      (at) => `    ${tableName(at)}:
      read: { fields: [id, title, status, first_id], filter: { status: { _eq: published } } }
      create: { fields: [title, status, first_id], presets: { status: draft } }
      update: { fields: [title], filter: { amount: { _gt: ${number} } } }
`,
    )
    .join('');
}

function tableName(index: number): string {
  return `table_${String(index).padStart(3, '0')}`;
}
