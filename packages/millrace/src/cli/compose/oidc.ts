import type { ServerOptions } from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Settings = NonNullable<ServerOptions['oidc']>;
type OidcRole = Settings['roles'] extends ReadonlyMap<string, infer R> ? R : never;

const prefix = 'MILLRACE_OIDC_';
const known = [
  'ISSUER',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'NAME',
  'ORGANIZATION',
  'GROUPS',
  'ROLES',
  'SCOPES',
].map((name) => prefix + name);

/** The identity provider for the users of an organization (MILLRACE_OIDC_…). Undefined for none. */
export function oidcSettings(env: Env): ServerOptions['oidc'] {
  const names = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && valueOf(env, name) !== undefined,
  );
  if (names.length === 0) return undefined;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrong(unknown, `is not a setting. Valid settings are: ${known.join(', ')}`);
  const required = (name: string): string => {
    const value = valueOf(env, name);
    if (value === undefined) throw wrong(name, 'is required for logins with an identity provider');
    return value;
  };
  return {
    issuer: issuerIn(required(`${prefix}ISSUER`)),
    clientId: required(`${prefix}CLIENT_ID`),
    clientSecret: valueOf(env, `${prefix}CLIENT_SECRET`),
    name: nameIn(valueOf(env, `${prefix}NAME`) ?? 'single sign-on'),
    organization: organizationIn(valueOf(env, `${prefix}ORGANIZATION`)),
    groupsClaim: valueOf(env, `${prefix}GROUPS`) ?? 'groups',
    roles: rolesIn(required(`${prefix}ROLES`)),
    scopes: scopesIn(valueOf(env, `${prefix}SCOPES`)),
  };
}

function issuerIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without TLS an attacker on the network could impersonate the provider.
  const isSafe =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname));
  if (!url || !isSafe || url.username !== '' || url.search !== '' || url.hash !== '')
    throw wrong(
      `${prefix}ISSUER`,
      'must be the address of the provider, such as https://login.example.com/realms/main; http:// is accepted for this machine only',
    );
  return text;
}

function nameIn(text: string): string {
  if (/^[^\p{C}]{1,40}$/u.test(text)) return text;
  throw wrong(`${prefix}NAME`, 'must be a name of at most 40 characters, such as Okta');
}

function organizationIn(text: string | undefined): string | undefined {
  if (text === undefined || /^org_\w{1,64}$/.test(text)) return text;
  throw wrong(
    `${prefix}ORGANIZATION`,
    'must be the ID of an organization, such as org_… (see `millrace orgs list`)',
  );
}

function scopesIn(text: string | undefined): string | undefined {
  if (text === undefined || text.split(/\s+/).includes('openid')) return text;
  throw wrong(
    `${prefix}SCOPES`,
    'must be a list separated by spaces that includes openid, such as "openid profile email"',
  );
}

const isRole = (text: unknown): text is OidcRole =>
  text === 'admin' || text === 'member' || text === 'viewer';

/** `group=role,group=role`; or a JSON object, for groups with commas in their names. */
function rolesIn(text: string): ReadonlyMap<string, OidcRole> {
  const pairs = text.startsWith('{') ? jsonPairs(text) : text.split(',').map(pairIn);
  const roles = new Map<string, OidcRole>();
  for (const [group, role] of pairs) {
    if (group === '' || !isRole(role) || roles.has(group))
      throw wrong(
        `${prefix}ROLES`,
        'must assign each group one role, such as millrace-admins=admin,engineering=member. The roles are admin, member and viewer',
      );
    roles.set(group, role);
  }
  return roles;
}

function pairIn(text: string): [group: string, role: unknown] {
  // A group name may contain an equals sign.
  const at = text.lastIndexOf('=');
  return at === -1 ? ['', ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function jsonPairs(text: string): [group: string, role: unknown][] {
  try {
    return Object.entries(JSON.parse(text) as Record<string, unknown>);
  } catch {
    return [['', '']];
  }
}

function valueOf(env: Env, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

const wrong = (name: string, rule: string): CommandFailed =>
  new CommandFailed(exitCodes.usage, `${name} ${rule}.`);
