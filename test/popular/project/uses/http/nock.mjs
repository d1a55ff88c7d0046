import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import nock from 'nock';

export default async () => {
  nock('http://nock.example').get('/').reply(200, { ok: true });
  const response = await new Promise((resolve) => get('http://nock.example/', resolve));
  const body = await text(response);
  nock.restore();
  return body;
};
