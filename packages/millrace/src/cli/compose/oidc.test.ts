import { expect, test } from 'vitest';
import { oidcSettings } from './oidc.ts';

const least = {
  MILLRACE_OIDC_ISSUER: 'https://login.example.com/realms/main',
  MILLRACE_OIDC_CLIENT_ID: 'millrace',
  MILLRACE_OIDC_ROLES: 'millrace-admins=admin, a=b =member',
};

test('the identity provider is read from the environment, or there is none', () => {
  expect(oidcSettings({ PATH: '/bin', MILLRACE_OIDC_ISSUER: ' ' })).toBeUndefined();
  expect(oidcSettings(least)).toEqual({
    issuer: 'https://login.example.com/realms/main',
    clientId: 'millrace',
    clientSecret: undefined,
    name: 'single sign-on',
    organization: undefined,
    groupsClaim: 'groups',
    roles: new Map([
      ['millrace-admins', 'admin'],
      ['a=b', 'member'],
    ]),
    scopes: undefined,
  });
  expect(
    oidcSettings({
      ...least,
      MILLRACE_OIDC_ISSUER: 'http://127.0.0.1:8080',
      MILLRACE_OIDC_ROLES: '{"cn=admins,dc=example":"viewer"}',
      MILLRACE_OIDC_GROUPS: 'realm_access.roles',
      MILLRACE_OIDC_NAME: 'Okta',
    }),
  ).toMatchObject({
    roles: new Map([['cn=admins,dc=example', 'viewer']]),
    groupsClaim: 'realm_access.roles',
    name: 'Okta',
  });
});

test('a setting that is wrong is refused with its name, and never with its value', () => {
  for (const [name, value, sentence] of [
    ['ISSUER', '', 'MILLRACE_OIDC_ISSUER is needed'],
    ['ISSUER', 'http://login.example.com', 'MILLRACE_OIDC_ISSUER is the address'],
    ['ISSUER', 'https://u:p@login.example.com', 'MILLRACE_OIDC_ISSUER is the address'],
    ['ISSUER', 'login.example.com', 'MILLRACE_OIDC_ISSUER is the address'],
    ['CLIENT_ID', '', 'MILLRACE_OIDC_CLIENT_ID is needed'],
    ['ROLES', '', 'MILLRACE_OIDC_ROLES is needed'],
    ['ROLES', 'eng', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ROLES', 'eng=owner', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ROLES', '=admin', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ROLES', 'eng=admin,eng=viewer', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ROLES', '{"eng":1}', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ROLES', '{eng', 'MILLRACE_OIDC_ROLES gives each group one role'],
    ['ORGANIZATION', 'My organization', 'MILLRACE_OIDC_ORGANIZATION is the id'],
    ['SCOPES', 'profile', 'MILLRACE_OIDC_SCOPES is a list'],
    ['NAME', 'a\nb', 'MILLRACE_OIDC_NAME is a name'],
    ['SECRET', 'hunter2', 'MILLRACE_OIDC_SECRET is not a setting'],
  ] as const) {
    const read = () => oidcSettings({ ...least, [`MILLRACE_OIDC_${name}`]: value });
    expect(read, `${name} ${value}`).toThrow(sentence);
    expect(read).not.toThrow('hunter2');
  }
});
