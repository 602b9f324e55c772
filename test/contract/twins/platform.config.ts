import { defineConfig } from 'tablewright/config';

export default defineConfig({
  permissions: 'permissions.yaml',
  collections: { categories: { sort: 'sort' }, sections: { sort: 'sort' }, settings: { singleton: true } },
  manyToAny: [
    {
      collection: 'articles',
      field: 'sections',
      link: 'sections',
      linkField: 'article_id',
      collectionField: 'collection',
      itemField: 'item',
      allowed: ['headings', 'pictures'],
      sort: 'sort',
    },
  ],
});
