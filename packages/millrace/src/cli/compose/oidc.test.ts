import { expect, test } from 'vitest';
import { oidcSettings } from './oidc.ts';

const least = {
  MILLRACE_OIDC_ISSUER: 'https://login.example.com/realms/main',
  MILLRACE_OIDC_CLIENT_ID: 'millrace',
  MILLRACE_OIDC_ROLES: 'millrace-admins=admin, a=b =member',
};

test('reads an optional identity provider from the environment', () => {
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

test('the error for an invalid setting contains its name but not its value', () => {
  for (const [name, value, sentence] of [
    ['ISSUER', '', 'MILLRACE_OIDC_ISSUER is required'],
    ['ISSUER', 'http://login.example.com', 'MILLRACE_OIDC_ISSUER must be the address'],
    ['ISSUER', 'https://u:p@login.example.com', 'MILLRACE_OIDC_ISSUER must be the address'],
    ['ISSUER', 'login.example.com', 'MILLRACE_OIDC_ISSUER must be the address'],
    ['CLIENT_ID', '', 'MILLRACE_OIDC_CLIENT_ID is required'],
    ['ROLES', '', 'MILLRACE_OIDC_ROLES is required'],
    ['ROLES', 'eng', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ROLES', 'eng=owner', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ROLES', '=admin', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ROLES', 'eng=admin,eng=viewer', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ROLES', '{"eng":1}', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ROLES', '{eng', 'MILLRACE_OIDC_ROLES must assign each group one role'],
    ['ORGANIZATION', 'My organization', 'MILLRACE_OIDC_ORGANIZATION must be the ID'],
    ['SCOPES', 'profile', 'MILLRACE_OIDC_SCOPES must be a list'],
    ['NAME', 'a\nb', 'MILLRACE_OIDC_NAME must be a name'],
    ['SECRET', 'hunter2', 'MILLRACE_OIDC_SECRET is not a setting'],
  ] as const) {
    const read = () => oidcSettings({ ...least, [`MILLRACE_OIDC_${name}`]: value });
    expect(read, `${name} ${value}`).toThrow(sentence);
    expect(read).not.toThrow('hunter2');
  }
});
