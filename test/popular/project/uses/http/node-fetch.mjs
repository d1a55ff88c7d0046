import fetch from 'node-fetch';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => (await fetch(url)).json());
