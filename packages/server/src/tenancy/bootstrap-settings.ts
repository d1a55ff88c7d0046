/** Settings `MILLRACE_BOOTSTRAP_…`: values for the first project, so that no secret needs to be displayed. */
import { environmentKinds, type EnvironmentKind } from '@millrace/contract';
import { credentialDigest, credentialForm, isProjectRef } from '../auth/keys.ts';
import type { Sql } from '../db/connect.ts';

export interface BootstrapSettings {
  readonly projectRef?: string;
  readonly projectName?: string;
  readonly personalAccessToken?: string;
  readonly secretKeys: Readonly<Partial<Record<EnvironmentKind, string>>>;
}

const prefix = 'MILLRACE_BOOTSTRAP_';
const keyName = (kind: EnvironmentKind): string => `${prefix}${kind.toUpperCase()}_SECRET_KEY`;
const names = {
  projectRef: `${prefix}PROJECT_REF`,
  projectName: `${prefix}PROJECT_NAME`,
  personalAccessToken: `${prefix}ACCESS_TOKEN`,
} as const;

/** An invalid setting. The message never contains its value. */
export class BootstrapRefused extends Error {
  override name = 'BootstrapRefused';
}

function refuseUnless(holds: boolean, name: string, sentence: string): void {
  if (!holds) throw new BootstrapRefused(`${name} ${sentence}`);
}

/** Reads `MILLRACE_BOOTSTRAP_…`. Empty variables are ignored. */
export function readBootstrapSettings(env: Readonly<Record<string, string | undefined>>): BootstrapSettings {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const known = new Set<string>([...Object.values(names), ...environmentKinds.map(keyName)]);
  for (const name of Object.keys(env)) {
    refuseUnless(
      !name.startsWith(prefix) || known.has(name),
      name,
      `is not a setting. Valid settings are: ${[...known].join(', ')}.`,
    );
  }
  const projectRef = read(names.projectRef);
  const projectName = read(names.projectName);
  const personalAccessToken = read(names.personalAccessToken);
  refuseUnless(
    projectRef === undefined || isProjectRef(projectRef),
    names.projectRef,
    'is not a project ref: write proj_ and 20 lower-case letters.',
  );
  refuseUnless(
    projectName === undefined || projectName.length <= 64,
    names.projectName,
    'is too long: a project name has at most 64 characters.',
  );
  refuseUnless(
    personalAccessToken === undefined ||
      (personalAccessToken.startsWith('svc_') &&
        credentialForm(personalAccessToken) === 'personalAccessToken'),
    names.personalAccessToken,
    'is not a personal access token: write svc_pat_ and 40 characters of 1 to 9 and a to z, but no l.',
  );
  const secretKeys: Partial<Record<EnvironmentKind, string>> = {};
  for (const kind of environmentKinds) {
    const key = read(keyName(kind));
    if (key === undefined) continue;
    refuseUnless(
      key.startsWith(`svc_${kind}_sk_`) && credentialForm(key) === 'secretKey',
      keyName(kind),
      `is not a secret key of ${kind}: write svc_${kind}_sk_ and 24 letters and digits.`,
    );
    secretKeys[kind] = key;
  }
  return {
    ...(projectRef !== undefined && { projectRef }),
    ...(projectName !== undefined && { projectName }),
    ...(personalAccessToken !== undefined && { personalAccessToken }),
    secretKeys,
  };
}

/** The names of settings without effect, because the database was set up before with other values. */
export async function ignoredSettings(sql: Sql, settings: BootstrapSettings): Promise<string[]> {
  const ignored: string[] = [];
  const { projectRef, personalAccessToken, secretKeys } = settings;
  if (projectRef !== undefined) {
    const [found] = await sql`select from projects where ref = ${projectRef} and deleted_at is null`;
    if (!found) ignored.push(names.projectRef);
  }
  if (personalAccessToken !== undefined) {
    const [found] = await sql`
      select from personal_access_tokens
       where digest = ${credentialDigest(personalAccessToken)} and revoked_at is null`;
    if (!found) ignored.push(names.personalAccessToken);
  }
  for (const kind of environmentKinds) {
    const key = secretKeys[kind];
    if (key === undefined) continue;
    const [found] = await sql`
      select from secret_keys where digest = ${credentialDigest(key)} and revoked_at is null`;
    if (!found) ignored.push(keyName(kind));
  }
  return ignored;
}
