import { HttpsProxyAgent } from 'https-proxy-agent';

export default async () => new HttpsProxyAgent('http://127.0.0.1:1').proxy.port;
