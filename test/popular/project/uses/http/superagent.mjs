import superagent from 'superagent';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => (await superagent.get(url)).body);
