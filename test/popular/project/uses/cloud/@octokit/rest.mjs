import { Octokit } from '@octokit/rest';
import { withServer } from '../../../support/with-server.mjs';

export default async () =>
  withServer(async (baseUrl) => (await new Octokit({ baseUrl }).users.getAuthenticated()).data);
