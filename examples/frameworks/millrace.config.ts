import { defineConfig } from 'millrace';

export default defineConfig({ dirs: ['./tasks'] });
