import type { DeclaredModel, DeclaredRow } from '@tablewright/runtime/language';
import type { PlatformConfig, TranslationsConfig } from '../../config/config.ts';
import type { Collection } from '../../schema.ts';
import { collectionsByName, manyToOnesOf } from '../lookup.ts';
import { namesOf, textOf } from './declare-collections.ts';

/**
 * Translations that the platform's own tables declare: sides of relations with the special `translations`. Their child
 * leads to the languages by `junction_field`, or else by the only other key that it has. One that waits for a relation
 * is not a translation yet. The configuration of the same child takes precedence. Source: API specification, sections 6
 * and 7.1.
 */
export function translationsIn(
  { fields, relations }: DeclaredModel,
  config: PlatformConfig,
  derived: readonly Collection[],
): readonly TranslationsConfig[] {
  const byName = collectionsByName(derived);
  const configured = new Set((config.translations ?? []).map(({ collection, child }) => `${collection}.${child}`));
  return fields.filter(isTranslated).flatMap((field): readonly TranslationsConfig[] => {
    const row = relations.find(
      (candidate) => candidate.one_collection === field.collection && candidate.one_field === field.field,
    );
    const child = byName.get(String(row?.many_collection));
    if (row === undefined || child === undefined) return [];
    const declared = { collection: String(field.collection), field: String(field.field), child: child.name };
    const keys = manyToOnesOf(child);
    const others = keys.filter(({ name }) => name !== row.many_field);
    const named = textOf(row, 'junction_field');
    const [language, ...more] = named === undefined ? others : others.filter(({ name }) => name === named);
    const isWhole = keys.some(({ name, target }) => name === row.many_field && target === declared.collection);
    if (language === undefined || more.length > 0 || !isWhole) return [];
    return configured.has(`${declared.collection}.${child.name}`) ? [] : [{ ...declared, languages: language.target }];
  });
}

function isTranslated(row: DeclaredRow): boolean {
  return namesOf(row, 'special').includes('translations');
}
