/** Entry point of `platform.config.ts`: the type of the configuration, and `defineConfig`, which checks it. */
export type {
  ArchiveConfig,
  CollectionConfig,
  DatabaseConfig,
  FieldConfig,
  FieldTypeConfig,
  FunctionConfig,
  GraphqlConfig,
  ManyToAnyConfig,
  ManyToManyConfig,
  PlatformConfig,
  RelationConfig,
  SoftDeleteConfig,
  TenantConfig,
  TranslationsConfig,
} from './config.ts';
export { defineConfig } from './config.ts';
