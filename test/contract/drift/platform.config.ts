import { defineConfig } from '@platform/cli/config';

export default defineConfig({ permissions: 'permissions.yaml' });
