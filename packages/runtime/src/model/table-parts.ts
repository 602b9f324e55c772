/** Parts of tables as changes name them: place, types of columns, drafts, and steps where each is committed by itself. */
import type { PlatformError } from '../errors.ts';
import type { PortableType } from '../language/index.ts';

/** A column without its name. */
export interface ColumnDefinition {
  /** With what says how texts are compared: `varchar(40) COLLATE utf8mb4_bin`. */
  readonly type: string;
  readonly nullable: boolean;
  /** SQL; null for none. */
  readonly default: string | null;
  /** A literal; null for none. */
  readonly comment: string | null;
  /** A condition in parentheses, which a server may keep with the column; null for none. */
  readonly check: string | null;
  /** All other parts: `AUTO_INCREMENT`, `ON UPDATE current_timestamp()`. */
  readonly rest: readonly string[];
  /** True if the database computes it. */
  readonly generated: boolean;
}

/** A part of an ALTER TABLE. */
export type AlterPart =
  | {
      readonly kind: 'do';
      readonly sql: string;
      /** Parts that undo it; null where nothing does, because what goes is lost. */
      readonly undo: string | null;
      /** The foreign key that goes: a copy of the table has none. */
      readonly dropsKey?: string;
      /** The index that it makes; where there is one of that name the part is left out. */
      readonly makesIndex?: string;
    }
  /** Describes a column anew. `lossy`: values may be lost by it, and texts cut. */
  | {
      readonly kind: 'modify';
      /** As SQL names it. */
      readonly column: string;
      readonly to: (definition: ColumnDefinition) => ColumnDefinition;
      readonly lossy?: boolean;
    };

/** A step; `table` is as SQL names it. */
export type TableStep =
  /** `definition` stands after the name of the table. */
  | { readonly kind: 'create'; readonly table: string; readonly definition: string; readonly place: ModelPlace }
  | { readonly kind: 'drop'; readonly table: string; readonly place: ModelPlace }
  | { readonly kind: 'alter'; readonly table: string; readonly part: AlterPart; readonly place: ModelPlace }
  /** Refuses the change unless every value of a column comes back from another type as it was. */
  | {
      readonly kind: 'fit';
      readonly table: string;
      readonly column: string;
      /** The other type, with what it must satisfy: `tinyint(1) CHECK (…)`, its column being `fresh`. */
      readonly type: string;
      readonly place: ModelPlace;
      readonly refusal: PlatformError;
    };

/** Whom an error of the database is told about. */
export interface ModelPlace {
  readonly collection: string;
  readonly field: string | null;
}

/** Types that need more than their name, or that no column is made of. */
export const specialTypes = ['enum', 'array', 'composite', 'geometry', 'vector', 'token', 'unknown'] as const;

/** A type that columns can be made of by its name. */
export type PlainTypeName = Exclude<PortableType, (typeof specialTypes)[number]>;

/** A type that columns can be made of. */
export type ColumnTypeName = PlainTypeName | 'enum' | 'array';

/** Table that a draft stands for, in names that are not quoted. */
export interface TableDraft {
  /** `public` for the database of the connection. */
  readonly schema: string;
  readonly table: string;
  /** The copy; null where the table goes. */
  readonly draft: string | null;
  /** True if the table is there already. */
  readonly stands: boolean;
  /** Foreign keys that it loses: a copy has those only that the change adds. */
  readonly droppedKeys: readonly string[];
}
