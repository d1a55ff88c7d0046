import { z } from 'zod';
import { operation } from '../operation.ts';

/** `error`: something does not work, or data are at risk. `warning`: it works and is likely to fail, or costs more than it should. */
export const severities = ['error', 'warning'] as const;
export type Severity = (typeof severities)[number];

/** What a check found. Neither it nor any other text of a check holds a secret. */
export const finding = z.object({
  /** What is wrong here, with its values. */
  what: z.string(),
  /** Why it matters. */
  why: z.string(),
  /** The command or the setting that mends it. */
  mend: z.string(),
});
export type Finding = z.infer<typeof finding>;

export const checkResult = z.object({
  /** The name of the check, as in docs/doctor.md. */
  name: z.string(),
  /** `skipped`: it could not be checked, for the reason in `reason`. */
  state: z.enum(['ok', 'skipped', ...severities]),
  findings: z.array(finding),
  reason: z.string().optional(),
  tookMs: z.number(),
});
export type CheckResult = z.infer<typeof checkResult>;

export const diagnosis = z.object({
  /** The release of the server that answers. */
  version: z.string(),
  /** The clock of its machine. */
  at: z.iso.datetime(),
  /** The request as it arrived, to find out what a proxy does to requests. */
  request: z.object({
    /** The address that the client used, as the server understands the request. */
    url: z.string(),
    /** The address that the server takes for the client's. */
    address: z.string(),
    /** Whether a proxy named the client in `X-Forwarded-For`. */
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
  summary: 'Find what is wrong with the installation: its database, its runners and the server that answers',
  access: { personalAccessToken: true, installation: true },
  reply: diagnosis,
});
