import { auth, envvars } from '@millrace/sdk';
import type { Shop } from '../shop.ts';
import type { Member } from './organization.ts';

const withServices = ['payments', 'erp', 'carrier', 'mail', 'search', 'images', 'rates'];

const addressesOf = ({ services }: Shop): Record<string, string> =>
  Object.fromEntries(withServices.map((name) => [`${name.toUpperCase()}_URL`, services.address(name)]));

/** The addresses of the services, whose ports differ between processes. */
export const setAddresses = (shop: Shop): Promise<unknown> =>
  envvars.upload({ variables: addressesOf(shop), override: true });

/** The initial variables of the shop. */
export async function setVariables(shop: Shop): Promise<void> {
  await envvars.upload({
    variables: {
      ...addressesOf(shop),
      LOG_LEVEL: 'debug',
      SHOP_NAME: 'Harbour & Hearth',
      FREE_SHIPPING_FROM: '80',
      NEWSLETTER_SENDER: 'hello@shop.example',
    },
  });
  await envvars.create({ name: 'PAYMENTS_KEY', value: 'sk_demo_b4f1c09d77e2', isSecret: true });
}

/** Later changes by several people, one of which was a mistake that was rolled back. */
export async function changeVariables(
  { projectRef }: Shop,
  [first, second]: readonly Member[],
): Promise<void> {
  await as(first, () => envvars.update(projectRef, 'prod', 'LOG_LEVEL', { value: 'info' }));
  await as(second, () => envvars.update(projectRef, 'prod', 'FREE_SHIPPING_FROM', { value: '60' }));
  const [before] = (await envvars.history()).data;
  await as(second, () => envvars.update(projectRef, 'prod', 'FREE_SHIPPING_FROM', { value: '0' }));
  if (before) await as(first, () => envvars.rollback(projectRef, 'prod', { revision: before.revision }));
}

/** Rotates a secret, with the shop's own key. */
export const rotateSecret = (): Promise<unknown> =>
  envvars.update('PAYMENTS_KEY', { value: 'sk_demo_9e03aa51fc48' });

const as = <T>(member: Member | undefined, act: () => Promise<T>): Promise<T> =>
  member ? auth.withAuth({ accessToken: member.personalAccessToken }, act) : act();
