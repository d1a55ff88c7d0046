import { z } from 'zod';
import { operation } from '../operation.ts';
import { inEnvironment } from './projects.ts';

const paused = z.object({ id: z.string(), paused: z.boolean() });

export const pauseEnvironment = operation({
  id: 'pauseEnvironment',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/pause',
  tag: 'projects',
  summary: 'Start no more runs in an environment, or by header in a branch; triggers are taken and wait',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  reply: paused,
  errors: [404],
});

export const resumeEnvironment = operation({
  id: 'resumeEnvironment',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/resume',
  tag: 'projects',
  summary: 'Start runs again',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  reply: paused,
  errors: [404],
});
