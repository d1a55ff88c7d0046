import type { ServerCheck } from './input.ts';

export const serverDiagnosis: ServerCheck = {
  name: 'server-diagnosis',
  looksAt: 'the server tells what it finds wrong',
  severity: 'error',
  why: 'The server answers and cannot examine itself, or a proxy cuts its replies.',
  fix: 'The log of the server has the cause, under the same time.',
  async find({ diagnose }) {
    await diagnose();
    return [];
  },
};
