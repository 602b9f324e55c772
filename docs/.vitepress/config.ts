import { defineConfig } from 'vitepress';
import { namesOfFiles } from './file-links.ts';
import { sidebar } from './sidebar.ts';

export default defineConfig({
  title: 'Tablewright',
  description: 'Compiles a SQL database and its permissions into a typed API server.',
  lang: 'en',
  outDir: '../.tmp/docs',
  cacheDir: '../.tmp/docs-cache',
  markdown: { languageAlias: { ndjson: 'json' }, config: namesOfFiles },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Quickstart', link: '/quickstart/embedded', activeMatch: '^/quickstart/' },
      { text: 'Guides', link: '/permissions' },
      { text: 'Reference', link: '/reference/commands', activeMatch: '^/reference/' },
    ],
    sidebar,
  },
});
