import type { MigrationTexts } from '../../../../system/migration.ts';

const rename = (name: string): string =>
  `ALTER TABLE platform_settings ALTER COLUMN project_name SET DEFAULT '${name}'`;

/** The name of a project that names none is that of the product. Rows keep the name that they hold. */
export const productName: MigrationTexts = {
  up: `${rename('Tablewright')};`,
  down: `${rename('Platform')};`,
};
