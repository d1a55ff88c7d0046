import got from 'got';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => got(url).json());
