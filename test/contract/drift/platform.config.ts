import { defineConfig } from 'tablewright/config';

export default defineConfig({ permissions: 'permissions.yaml' });
