import axios from 'axios';
import axiosRetry from 'axios-retry';
import { withServer } from '../../support/with-server.mjs';

export default async () =>
  withServer(async (url) => {
    const client = axios.create();
    axiosRetry(client, { retries: 1 });
    return (await client.get(url)).data;
  });
