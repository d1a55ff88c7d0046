import { createHash, createHmac } from 'node:crypto';
import { createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { S3Settings } from '../../store/s3.ts';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Adds behavior of Amazon S3 that the test server lacks: a server in front of it computes each signature according to the specification
 * ("Signature Version 4"), and compares the signed digest with the received bytes. Returns its address.
 */
export async function strictS3({ endpoint = '', region, secretAccessKey }: S3Settings): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const refuse = (status: number, code: string): unknown =>
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    if (!isSigned(request, { region, secretAccessKey })) return refuse(403, 'SignatureDoesNotMatch');
    if (request.headers['x-amz-content-sha256'] !== sha256(body))
      return refuse(400, 'XAmzContentSHA256Mismatch');
    const { method, url = '', headers } = request;
    const forwarded = send(new URL(url, endpoint), { method: method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function isSigned(
  { method, url = '', headers }: IncomingMessage,
  { region, secretAccessKey }: Pick<S3Settings, 'region' | 'secretAccessKey'>,
): boolean {
  const [, day = '', scopeRegion, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const signed = names.split(';');
  const date = headers['x-amz-date'];
  if (scopeRegion !== region || typeof date !== 'string' || !date.startsWith(day)) return false;
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name))) return false;
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    method,
    path,
    query.split('&').toSorted().join('&'),
    ...signed.map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = ['aws4_request', 's3', region, day].reduceRight<Buffer | string>(
    (derived, part) => hmac(derived, part),
    `AWS4${secretAccessKey}`,
  );
  return (
    hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex') === signature
  );
}
