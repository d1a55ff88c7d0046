import { request } from 'undici';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => (await request(url)).body.json());
