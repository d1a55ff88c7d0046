import type { WebhookVerification } from '@millrace/contract/runner';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../content.ts';
import { signRequest, verifyRequest } from './index.ts';
import type { Verdict } from './scheme.ts';

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

function verify(
  verification: WebhookVerification,
  secrets: readonly string[],
  { headers, body }: Sent,
  now: number,
): Verdict {
  const bytes = Buffer.from(body);
  return verifyRequest(verification, secrets, { headers, body: bytes, json: () => jsonOf(bytes) }, now);
}

const named = (scheme: 'standard' | 'svix' | 'stripe' | 'github' | 'slack'): WebhookVerification => ({
  scheme,
  secrets: ['SECRET'],
});

/** Requests with signatures that the providers have published, and when they were signed. */
const published = [
  {
    source: 'the libraries of Standard Webhooks',
    verification: named('standard'),
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    headers: {
      'webhook-id': 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
      'webhook-timestamp': '1649367553',
      'webhook-signature': 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
    },
    body: '{"email":"test@example.com","username":"test_user"}',
    now: 1_649_367_553_000,
    senderId: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
  },
  {
    source: 'Svix’s documentation',
    verification: named('svix'),
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    headers: {
      'svix-id': 'msg_loFOjxBNrRLzqYUf',
      'svix-timestamp': '1731705121',
      'svix-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
    body: '{"event_type":"ping","data":{"success":true}}',
    now: 1_731_705_121_000,
    senderId: 'msg_loFOjxBNrRLzqYUf',
  },
  {
    source: 'GitHub’s documentation',
    verification: named('github'),
    secret: "It's a Secret to Everybody",
    headers: {
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    body: 'Hello, World!',
    now: 0,
    senderId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  {
    source: 'Slack’s documentation',
    verification: named('slack'),
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    now: 1_531_420_618_000,
    senderId: undefined,
  },
] as const;

describe.each(published)(
  'a request from $source',
  ({ verification, secret, headers, body, now, senderId }) => {
    const sent = { headers, body };

    test('is valid', () => {
      expect(verify(verification, [secret], sent, now)).toMatchObject({ senderId });
    });

    test('is valid with either of two secrets', () => {
      expect(verify(verification, ['another', secret], sent, now)).toMatchObject({ senderId });
      expect(verify(verification, [secret, 'another'], sent, now)).toMatchObject({ senderId });
    });

    test('is invalid with another secret, without secrets, and with another body', () => {
      expect(verify(verification, ['another'], sent, now)).toBe('webhook_signature_invalid');
      expect(verify(verification, [], sent, now)).toBe('webhook_signature_invalid');
      expect(verify(verification, [secret], { headers, body: `${body} ` }, now)).toBe(
        'webhook_signature_invalid',
      );
    });

    test('is rejected without its headers', () => {
      expect(verify(verification, [secret], { headers: {}, body }, now)).toBe('webhook_signature_missing');
    });
  },
);

test('a signed time more than five minutes from now is rejected', () => {
  const timed = published.filter(({ now }) => now > 0);
  expect(timed).toHaveLength(3);
  for (const { verification, secret, headers, body, now } of timed) {
    for (const ms of [-300_000, 300_000])
      expect(verify(verification, [secret], { headers, body }, now + ms)).toBeTypeOf('object');
    for (const ms of [-300_001, 300_001])
      expect(verify(verification, [secret], { headers, body }, now + ms)).toBe('webhook_timestamp_invalid');
  }
});

describe('a request from Stripe', () => {
  const now = 1_700_000_000_000;
  const body = '{"id":"evt_1","object":"event","type":"invoice.paid"}';
  // As documented: HMAC-SHA256 of the timestamp, a dot and the body, keyed with the whole secret.
  const signature = (secret: string, at = '1700000000') =>
    createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const send = (header: string, secrets = ['whsec_test']) =>
    verify(named('stripe'), secrets, { headers: { 'stripe-signature': header }, body }, now);

  test('is valid if one of its v1 signatures is', () => {
    const valid = { senderId: 'evt_1', signedAt: now };
    expect(send(`t=1700000000,v1=${signature('whsec_test')}`)).toEqual(valid);
    expect(send(`t=1700000000,v1=${signature('old')},v1=${signature('whsec_test')},v0=00`)).toEqual(valid);
    expect(send(`t=1700000000, v1=${signature('whsec_test')}`)).toEqual(valid);
  });

  test('is invalid with a v0 signature only, another time, or without fields', () => {
    for (const header of [
      `t=1700000000,v0=${signature('whsec_test')}`,
      `t=1700000001,v1=${signature('whsec_test')}`,
      `v1=${signature('whsec_test')}`,
      't=1700000000',
      't=1700000000,v1=',
      'garbage',
    ])
      expect(send(header)).toBe('webhook_signature_invalid');
  });

  test('is rejected if its time is old or not a time', () => {
    expect(send(`t=1699999000,v1=${signature('whsec_test', '1699999000')}`)).toBe(
      'webhook_timestamp_invalid',
    );
    expect(send(`t=1e9,v1=${signature('whsec_test', '1e9')}`)).toBe('webhook_timestamp_invalid');
  });
});

test('a signature with the empty key of a secret that is not base64 is invalid', () => {
  const signed = signRequest(named('standard'), 'whsec_', { id: 'm', at: 0, body: Buffer.from('{}') });
  expect(verify(named('standard'), ['whsec_', '?'], { headers: signed, body: '{}' }, 0)).toBe(
    'webhook_signature_invalid',
  );
});

test('Svix may send the headers of Standard Webhooks', () => {
  const [standard] = published;
  expect(verify(named('svix'), [standard.secret], standard, standard.now)).toMatchObject({
    senderId: standard.senderId,
  });
});

test("Slack's verification of an address is answered with its challenge", () => {
  const body = Buffer.from('{"type":"url_verification","token":"t","challenge":"3eZbrw1aB10FEMAGAZd4FyFQ"}');
  const headers = signRequest(named('slack'), 'secret', { id: '', at: 0, body });
  expect(verify(named('slack'), ['secret'], { headers, body }, 0)).toMatchObject({
    reply: { challenge: '3eZbrw1aB10FEMAGAZd4FyFQ' },
  });
});

const hmac = fc.record({
  scheme: fc.constant('hmac' as const),
  secrets: fc.constant<string[]>(['SECRET']),
  header: fc.constantFrom('X-Signature', 'signature'),
  algorithm: fc.constantFrom('sha1', 'sha256', 'sha512'),
  encoding: fc.constantFrom('hex', 'base64'),
  prefix: fc.constantFrom('', 'sha256='),
  idHeader: fc.constant('X-Request-Id'),
});
const anyScheme: fc.Arbitrary<WebhookVerification> = fc.oneof(
  fc.constantFrom('standard', 'svix', 'stripe', 'github', 'slack').map((scheme) => named(scheme)),
  hmac,
);

test('a signed request is valid, and not after any change of its body or its secret', () => {
  fc.assert(
    fc.property(
      anyScheme,
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ minLength: 24, maxLength: 24 }),
      fc.nat(),
      (verification, content, key, position) => {
        const body = Buffer.from(content);
        const secret = `whsec_${Buffer.from(key).toString('base64')}`;
        const now = 1_700_000_000_000;
        const headers = signRequest(verification, secret, { id: 'msg_1', at: now, body });
        expect(verify(verification, [secret], { headers, body }, now)).toBeTypeOf('object');

        const changed = Buffer.from(body.length === 0 ? 'x' : body);
        if (body.length > 0) changed[position % body.length]! ^= 1 + (position % 255);
        expect(verify(verification, [secret], { headers, body: changed }, now)).toBe(
          'webhook_signature_invalid',
        );
        const other = Buffer.from(key);
        other[position % other.length]! ^= 1;
        expect(verify(verification, [`whsec_${other.toString('base64')}`], { headers, body }, now)).toBe(
          'webhook_signature_invalid',
        );
      },
    ),
  );
});

test('no header makes verification throw', () => {
  const header = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.constantFrom('', 'v1,', 't=,v1=', 'sha256=', 'v0='),
  );
  fc.assert(
    fc.property(anyScheme, header, header, header, (verification, first, second, third) => {
      const headers = Object.fromEntries([
        ...['webhook', 'svix'].flatMap((prefix) => [
          [`${prefix}-id`, first],
          [`${prefix}-timestamp`, second],
          [`${prefix}-signature`, third],
        ]),
        ['stripe-signature', first],
        ['x-hub-signature-256', first],
        ['x-slack-request-timestamp', second],
        ['x-slack-signature', third],
        ['x-signature', first],
        ['signature', first],
      ]) as Record<string, string>;
      expect(verify(verification, ['secret'], { headers, body: '{}' }, 0)).toMatch(/^webhook_/);
    }),
  );
});
