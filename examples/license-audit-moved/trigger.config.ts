import { defineConfig } from '@trigger.dev/sdk';

export default defineConfig({
  project: 'proj_license_audit',
  dirs: ['./trigger'],
  maxDuration: 60,
  logLevel: 'info',
});
