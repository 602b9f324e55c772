/**
 * Collections, fields and relations that are made, changed and dropped while a server serves them; what is refused; and
 * the migrations that repeat it elsewhere. Source: API specification, section 12.
 */
import { askCollections } from './model-writes/collections.ts';
import { askElsewhere } from './model-writes/elsewhere.ts';
import { askFields } from './model-writes/fields.ts';
import { askKeptFields } from './model-writes/kept-fields.ts';
import { askRelations } from './model-writes/relations.ts';
import { startModelStage } from './model-writes/stage.ts';
import { askVirtualFields } from './model-writes/virtual-fields.ts';

// Each goes on with what the one before has made.
const stage = startModelStage();
askCollections(stage);
askFields(stage);
askKeptFields(stage);
askRelations(stage);
askVirtualFields(stage);
askElsewhere(stage);
