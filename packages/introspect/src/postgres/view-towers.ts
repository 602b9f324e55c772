/** Views on top of too many others: those that lead back to themselves, and those that only take long. */
import type { Diagnostic } from '../diagnostic.ts';
import { quotedNames, tableId } from '../table-names.ts';
import type { Catalog, RelationRow } from './catalog.ts';
import { highestTower } from './sql/view-towers.ts';

/**
 * Views that lead back to themselves, directly or through others, and the views that read them, by oid. PostgreSQL makes
 * them, and refuses to read from any of them.
 */
export function circularViews({ relations }: Pick<Catalog, 'relations'>): ReadonlySet<string> {
  const left = new Map(relations.flatMap(({ oid, towersOver }) => (towersOver === null ? [] : [[oid, towersOver]])));
  const readers = new Map<string, string[]>();
  const waitsFor = new Map<string, number>();
  for (const [view, sources] of left) {
    const towering = sources.filter((source) => left.has(source));
    waitsFor.set(view, towering.length);
    for (const source of towering) readers.set(source, [...(readers.get(source) ?? []), view]);
  }
  // Views without a way back are taken away from the bottom upwards; each view waits for those that it reads.
  const ends = [...left.keys()].filter((view) => waitsFor.get(view) === 0);
  for (let view = ends.pop(); view !== undefined; view = ends.pop()) {
    left.delete(view);
    for (const reader of readers.get(view) ?? []) {
      const rest = (waitsFor.get(reader) ?? 0) - 1;
      waitsFor.set(reader, rest);
      if (rest === 0) ends.push(reader);
    }
  }
  return new Set(left.keys());
}

/** One per view that is left out. */
export function circularDiagnostics(views: readonly RelationRow[]): Diagnostic[] {
  return views.map(({ nspname, relname }) => ({
    code: 'view-circular',
    severity: 'warning',
    place: `table ${tableId(nspname, relname)}`,
    message: `The view "${relname}" leads back to itself or reads one that does. PostgreSQL refuses to read it: it is left out.`,
    hint: 'Replace the view by one that reads tables, or drop it.',
  }));
}

/** One for all views that stand on too many others. */
export function toweringDiagnostics(views: readonly RelationRow[]): Diagnostic[] {
  if (views.length === 0) return [];
  const names = quotedNames(views.map(({ nspname, relname }) => tableId(nspname, relname)));
  const message = `More than ${highestTower} views stand on top of each other below ${names}: nothing is written through them.`;
  return [
    { code: 'view-tower', severity: 'warning', place: 'database', message, hint: 'Read tables from these views.' },
  ];
}
