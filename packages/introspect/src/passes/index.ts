import { type DeclaredModel, type Dialect, defaultDialect } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import type { Collection, Schema, Table } from '../schema.ts';
import { declareCollections, declaredNames } from './declarations/declare-collections.ts';
import { declareManyToAny, declareTranslations } from './declarations/declare-links.ts';
import { declareAnyItems, declareRelations } from './declarations/declare-model.ts';
import { nameCollections, nameFields } from './names.ts';
import { configureRelations, relationKey } from './relations/configure-relations.ts';
import { deriveManyToMany } from './relations/derive-many-to-many.ts';
import { deriveManyToOne, hideManyToOne } from './relations/derive-many-to-one.ts';
import { deriveOneToMany } from './relations/derive-one-to-many.ts';
import { declareSearch } from './search.ts';
import { markSystem, nameSystemInverses, systemNames, withSystemTables } from './system-tables.ts';

/** The collections of a database, and the derived name of every relation before the configuration changed it. */
interface DerivedCollections {
  readonly collections: readonly Collection[];
  /** `articles.comments`: the keys under which the configuration may speak of relations. Sorted. */
  readonly relationKeys: readonly string[];
}

/**
 * Derives the collections from the tables and the configuration: names, fields, keys, relations of every kind.
 *
 * Names are claimed in an order that prefers the database and the user's will: fields, many-to-one, names that the
 * configuration declares, one-to-many, many-to-many.
 */
export function deriveCollections(
  tables: readonly Table[],
  config: PlatformConfig,
  previous: Schema | null,
  dialect: Dialect = defaultDialect,
): DerivedCollections {
  const { keyed, joined } = deriveStages(tables, config, previous);
  const configured = configureRelations(joined, config);
  const collections = declareSearch(declareTranslations(configured, config), tables, config, dialect);
  return { collections, relationKeys: keysOf(keyed, joined, collections) };
}

/**
 * The configuration with what the platform's own tables say about the model. Each part is added before what is derived
 * from it, since names of one kind yield to those of others.
 */
export function declareModel(
  tables: readonly Table[],
  config: PlatformConfig,
  previous: Schema | null,
  model: DeclaredModel,
): PlatformConfig {
  const settings = withSystemTables(config, tables);
  const named = markSystem(nameFields(nameCollections(tables, settings)), tables, settings);
  const declared = declareCollections(config, model, tables, named);
  const linked = declareAnyItems(declared, model, deriveManyToOne(named, tables));
  return declareRelations(linked, model, deriveStages(tables, linked, previous).joined);
}

/** Collections with every relation under its derived name, and as they are before any but many-to-ones are derived. */
function deriveStages(tables: readonly Table[], config: PlatformConfig, previous: Schema | null) {
  const settings = withSystemTables(config, tables);
  const named = markSystem(nameFields(nameCollections(tables, settings)), tables, settings);
  const keyed = deriveManyToOne(named, tables);
  const shown = hideManyToOne(keyed, config);
  const declared = systemNames(declaredNames(shown, config), shown);
  const linked = declareManyToAny(shown, config);
  const inverted = nameSystemInverses(deriveOneToMany(linked, tables, declared));
  return { keyed, joined: deriveManyToMany(inverted, tables, config, declared, previous) };
}

function keysOf(...stages: readonly (readonly Collection[])[]): readonly string[] {
  const keys = stages.flat().flatMap((collection) => collection.relations.map((item) => relationKey(collection, item)));
  return [...new Set(keys)].sort();
}
