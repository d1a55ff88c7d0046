import { createServer } from 'node:http';
import { Writable } from 'node:stream';
import pinoHttp from 'pino-http';

export default async () => {
  const lines = [];
  const stream = new Writable({ write: (chunk, _, done) => done(null, lines.push(String(chunk))) });
  const log = pinoHttp({}, stream);
  const server = createServer((request, response) => {
    log(request, response);
    response.end('ok');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await (await fetch(`http://127.0.0.1:${server.address().port}/path`)).text();
  await new Promise((resolve) => server.close(resolve));
  return JSON.parse(lines[0]).req.url;
};
