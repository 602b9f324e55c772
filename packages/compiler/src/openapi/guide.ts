/** Facts that all collections share, in Markdown: documents say them once, and not at each operation. */
export const guide = `The REST API that Tablewright compiled for a database and its permissions.

## Collections

- List (GET): the items that match. The key completes every order.
- SEARCH on the same path, described as \`x-platform-search\`: answers as GET does. The parameters stand in the body, and \`keys\` reads exactly these items; parameters in the URL do not count.
- Read (GET with a key): the item that has the key. One that does not exist is forbidden. A singleton that was not written yet has its defaults.
- Create (POST): one item, or all items of an array, answered in its order. \`on_conflict\` names a unique key: items that have its values are changed, and the others are made. Without it, an item that there already is is an error.
- Update (PATCH): changes the fields that the body has. Without a key in the path it gives the same \`data\` to the items of \`keys\` or \`query\`, or to each item of an array its own. A singleton is created when there is none.
- Delete (DELETE): the item that has the key; or those of \`keys\` or \`query\`, or of an array of keys: all of them or none.

## Parameters

- \`filter\`: conditions that items must meet, all of them together: in brackets, \`filter[field][_eq]=value\`, or as the text of a JSON object, \`filter={"field":{"_eq":"value"}}\`.
- \`aggregate\`: answers aggregate rows instead of items: functions with the fields they take, as \`aggregate[sum]=a\`; \`aggregate[count]=*\` counts items. Fields stand in a list, or in a text with commas.
- \`groupBy\`: fields and functions of them, such as \`year(a)\`, that make one aggregate row per value.
- \`having\`: conditions that aggregate rows must meet, whether their values are in the answer or not.
- Parameters of writes shape the answer: written items that do not match are left out.

## Schemas

Components of a collection \`X\`: \`ItemsX\` is an item, \`AggregateX\` an aggregate row, \`FilterX\` a filter, \`CreateX\` a new item, and \`UpdateX\` changes of an item. \`ChangeX\` has the key of the item that it changes, too. \`UpsertX\` is a new item, or changes of the one that has the same values in a unique key. \`PayloadX\` is what they have in common.

## Failures

Answers under \`default\` list what each status means; \`x-platform-codes\` has the codes of their errors.`;
