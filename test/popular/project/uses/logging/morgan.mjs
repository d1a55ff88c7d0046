import { createServer } from 'node:http';
import morgan from 'morgan';

export default async () => {
  const lines = [];
  const log = morgan(':method :url :status', { stream: { write: (line) => lines.push(line.trim()) } });
  const server = createServer((request, response) => log(request, response, () => response.end('ok')));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await (await fetch(`http://127.0.0.1:${server.address().port}/path`)).text();
  await new Promise((resolve) => server.close(resolve));
  return lines;
};
