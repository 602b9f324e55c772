import { defineConfig } from 'tablewright/config';

// DATABASE_URL names the database; without it an embedded PostgreSQL in .platform/ is used.
export default defineConfig({
  graphql: { enums: 'types' },
});
