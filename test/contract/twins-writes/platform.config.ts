import { defineConfig } from 'tablewright/config';

export default defineConfig({
  permissions: 'permissions.yaml',
  collections: {
    settings: { singleton: true },
    comments: { sort: 'sort' },
    sections: { sort: 'sort' },
    articles_tags: { sort: 'sort' },
  },
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
