import needle from 'needle';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => (await needle('get', url)).body);
