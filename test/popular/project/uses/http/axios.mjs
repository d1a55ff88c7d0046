import axios from 'axios';
import { withServer } from '../../support/with-server.mjs';

export default async () => withServer(async (url) => (await axios.get(url)).data);
