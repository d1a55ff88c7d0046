import { z } from 'zod';
import { operation } from '../operation.ts';

/** `error`: something does not work, or data is at risk. `warning`: it works but is likely to fail, or costs more than it should. */
export const severities = ['error', 'warning'] as const;
export type Severity = (typeof severities)[number];

/** A problem found by a check. No text of a check contains a secret. */
export const finding = z.object({
  /** The problem, with the actual values. */
  what: z.string(),
  /** Why it matters. */
  why: z.string(),
  /** The command or setting that fixes it. */
  fix: z.string(),
});
export type Finding = z.infer<typeof finding>;

export const checkResult = z.object({
  /** The name of the check, as in docs/doctor.md. */
  name: z.string(),
  /** `skipped`: it could not be checked, for the given `reason`. */
  state: z.enum(['ok', 'skipped', ...severities]),
  findings: z.array(finding),
  reason: z.string().optional(),
  tookMs: z.number(),
});
export type CheckResult = z.infer<typeof checkResult>;

export const diagnosis = z.object({
  /** The version of the server that replies. */
  version: z.string(),
  /** The clock of its machine. */
  at: z.iso.datetime(),
  /** The request as received, to show how a proxy changes requests. */
  request: z.object({
    /** The address that the client used, as derived by the server. */
    url: z.string(),
    /** The client address as derived by the server. */
    address: z.string(),
    /** Whether a proxy reported the client in `X-Forwarded-For`. */
    isForwarded: z.boolean(),
    /** Whether the server trusts that proxy, so that `address` is the client's. */
    isTrusted: z.boolean(),
  }),
  checks: z.array(checkResult),
});
export type Diagnosis = z.infer<typeof diagnosis>;

export const diagnose = operation({
  id: 'diagnose',
  method: 'GET',
  path: '/api/v1/doctor',
  tag: 'installation',
  summary: 'Check the installation for problems: its database, its runners and the responding server',
  access: { personalAccessToken: true, installation: true },
  reply: diagnosis,
});
