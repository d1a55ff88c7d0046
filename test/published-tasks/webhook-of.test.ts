import {
  defineWebhookEndpoint,
  providerProducers as providers,
  webhook,
  webhooks,
  webhookSources,
} from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { registerApis } from '../../packages/compat/src/runtime/apis.ts';
import { Catalog } from '../../packages/compat/src/runtime/catalog.ts';
import { Hooks, hooksApi } from '../../packages/compat/src/runtime/hooks.ts';
import { secretOf, webhookOf } from '../../packages/compat/src/runtime/webhook-of.ts';
import { entryOf } from '../../packages/compat/src/support/table.ts';

type Source = ReturnType<typeof webhooks.stripe>;

/** The verification of a webhook with a source, or the reason for a rejection; declared with the published SDK. */
function verificationOf(source: Source, declare: (catalog: Catalog) => void = () => {}): unknown {
  const catalog = new Catalog();
  registerApis({ 'resource-catalog': catalog.api, 'lifecycle-hooks': hooksApi(new Hooks()) });
  const endpoint = defineWebhookEndpoint({ id: 'a-webhook', source });
  webhook({ id: 'a', endpoint, onEvent: async () => {} });
  declare(catalog);
  try {
    return webhookOf('a', catalog.webhooks);
  } catch (error) {
    return (error as Error).message;
  }
}

const secret = ['A_WEBHOOK_SECRET', 'A_WEBHOOK_SECRET_NEXT'];

test.each([
  ['stripe', webhooks.stripe(), { scheme: 'stripe', secret }],
  ['github', webhooks.github(), { scheme: 'github', secret }],
  ['svix', webhooks.svix(), { scheme: 'svix', secret }],
  ['standardWebhooks', webhooks.standardWebhooks(), { scheme: 'standard', secret }],
  [
    'shopify',
    webhooks.shopify(),
    {
      scheme: 'hmac',
      header: 'x-shopify-hmac-sha256',
      algorithm: 'sha256',
      encoding: 'base64',
      idHeader: 'x-shopify-webhook-id',
      secret,
    },
  ],
  [
    'custom',
    webhooks.custom({
      scheme: 'hmac',
      algorithm: 'sha1',
      encoding: 'hex',
      signatureHeader: 'x-own',
      signature: { field: 'v1', fieldSeparator: '=' },
      signingString: 'raw',
    }),
    { scheme: 'hmac', header: 'x-own', algorithm: 'sha1', encoding: 'hex', prefix: 'v1=', secret },
  ],
  [
    'a custom source that signs more than the body',
    webhooks.custom({
      scheme: 'hmac',
      algorithm: 'sha1',
      encoding: 'hex',
      signatureHeader: 'x-own',
      signingString: { template: '{body}!' },
    }),
    expect.stringMatching(
      /^webhook "a": Millrace does not verify the requests of the source "custom": declare/,
    ),
  ],
])('the endpoint of the source %s is verified like a webhook of ours', (_, source, expected) => {
  expect(verificationOf(source)).toEqual(expected);
});

test('the table lists the sources that are verified', () => {
  for (const root of ['webhooks', 'webhookSources', 'providerProducers'] as const) {
    const sources =
      root === 'providerProducers' ? providers : root === 'webhooks' ? webhooks : webhookSources;
    for (const [name, source] of Object.entries(sources) as [string, () => Source][]) {
      if (['custom', 'constructEvent', 'SIGNATURE_HEADER_NAME', 'endpoint', 'waiter'].includes(name))
        continue;
      const state = typeof verificationOf(source()) === 'string' ? 'not' : 'works';
      expect([root, name, entryOf('export', `${root}.${name}`)?.state]).toEqual([root, name, state]);
    }
  }
});

test('an endpoint has one webhook without a filter, and its secret is a variable with its name', () => {
  const second = () => {
    webhook({
      id: 'b',
      endpoint: defineWebhookEndpoint({ id: 'a-webhook', source: webhooks.stripe() }),
      onEvent: async () => {},
    });
  };
  expect(verificationOf(webhooks.stripe(), second)).toMatch(/the endpoint "a-webhook" has 2 webhooks/);
  const withoutTask = new Catalog();
  registerApis({ 'resource-catalog': withoutTask.api });
  defineWebhookEndpoint({ id: 'lonely', source: webhooks.stripe() });
  expect(withoutTask.webhooks.withoutTask()).toMatchObject([
    { sentence: expect.stringMatching(/^the webhook endpoint "lonely" has no address here/) as string },
  ]);
  expect(['stripe', 'stripe-webhooks', 'my.github', '2fa', 'webhook'].map(secretOf)).toEqual([
    'STRIPE_WEBHOOK_SECRET',
    'STRIPE_WEBHOOK_SECRET',
    'MY_GITHUB_WEBHOOK_SECRET',
    '_2FA_WEBHOOK_SECRET',
    'WEBHOOK_SECRET',
  ]);
});
