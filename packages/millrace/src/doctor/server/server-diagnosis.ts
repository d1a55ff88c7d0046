import type { ServerCheck } from './input.ts';

export const serverDiagnosis: ServerCheck = {
  name: 'server-diagnosis',
  condition: 'the server returns its own findings',
  severity: 'error',
  why: 'The server responds but cannot run its checks, or a proxy truncates its responses.',
  fix: "The server's log contains the cause, at the same time.",
  async find({ diagnose }) {
    await diagnose();
    return [];
  },
};
