import { z } from 'zod';
import { operation } from '../operation.ts';
import { inEnvironment } from './projects.ts';

const paused = z.object({ id: z.string(), paused: z.boolean() });

export const pauseEnvironment = operation({
  id: 'pauseEnvironment',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/pause',
  tag: 'projects',
  summary: 'Pause an environment, or the branch in the header: no run starts; triggers are accepted and wait',
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
  summary: 'Resume a paused environment',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  reply: paused,
  errors: [404],
});
