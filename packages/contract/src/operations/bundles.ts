import { z } from 'zod';
import { operation } from '../operation.ts';
import { bundle, digest } from '../runner/bundle.ts';
import { runnerAccess } from './versions.ts';

export const retrieveBundle = operation({
  id: 'retrieveBundle',
  method: 'GET',
  path: '/runner/v1/versions/:version/bundle',
  tag: 'runner',
  summary: 'Retrieve the bundle of an uploaded version, for runners',
  access: runnerAccess,
  params: z.object({ version: z.string().min(1).max(128) }),
  unlimited: true,
  reply: bundle.extend({ version: z.string(), contentHash: z.string() }),
  errors: [404],
});

export const blobParams = z.object({ version: z.string().min(1).max(128), blob: digest });
