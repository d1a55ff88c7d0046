import { gte } from 'semver';
import type { MachineCheck } from './input.ts';

const oldest = '20.19.0';

export const nodeVersion: MachineCheck = {
  name: 'node-version',
  condition: `Node is ${oldest} or later`,
  severity: 'error',
  why: 'Older versions lack functions that Millrace needs, and receive no security updates.',
  fix: 'Install the current LTS release of Node: https://nodejs.org.',
  find: async ({ nodeVersion: version }) => (gte(version, oldest) ? [] : [{ what: `Node is ${version}.` }]),
};
