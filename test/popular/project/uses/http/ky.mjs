import ky from 'ky';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => ky(url).json());
