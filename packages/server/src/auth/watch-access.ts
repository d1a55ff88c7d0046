import { background } from '../background.ts';
import type { Sql } from '../db/connect.ts';
import { endedAmong, type CredentialRows } from './credential-rows.ts';
import { isUser, type Principal } from './principal.ts';

/** Watches the credentials of long-lived requests, such as streams, which must end with them. */
export interface AccessWatcher {
  /**
   * Calls `ended` once, within a second after the caller's credential has ended, regardless of which process ended it. Returns a function
   * that stops watching.
   */
  watch(principal: Principal, ended: () => void): () => void;
  /** A credential has just been revoked: do not wait for the next check. */
  checkNow(): void;
  /** The ids of the keys, tokens and sessions that are watched in this process. */
  watched(): string[];
  /** Number of statements sent so far. */
  readonly checks: number;
  stop(): void;
}

interface Holder {
  readonly ended: () => void;
  /** Milliseconds since 1970 by the database's clock. */
  readonly expiresAt: number;
}

/** Holders whose credentials have the same rows. */
interface Group {
  readonly rows: CredentialRows;
  readonly holders: Set<Holder>;
}

/** Below the promised second, because the check itself takes time. */
const checkMs = 750;

/**
 * One statement checks all watched credentials of this process together, regardless of the number of streams. `checkNow` runs it
 * immediately.
 */
export function startAccessWatcher(sql: Sql): AccessWatcher {
  const groups = new Map<string, Group>();
  let checking = false;
  let again = false;
  let checks = 0;
  let stopped = false;
  /** The database's time minus this machine's monotonic time. */
  let base = Date.now() - performance.now();

  const end = (key: string, group: Group, holders: Iterable<Holder>): void => {
    for (const holder of holders) {
      if (!group.holders.delete(holder)) continue;
      holder.ended();
    }
    if (group.holders.size === 0 && groups.get(key) === group) groups.delete(key);
  };

  const endExpired = (): void => {
    const now = base + performance.now();
    for (const [key, group] of groups) {
      end(
        key,
        group,
        [...group.holders].filter(({ expiresAt }) => expiresAt <= now),
      );
    }
  };

  const check = async (): Promise<void> => {
    if (checking) {
      again = true;
      return;
    }
    checking = true;
    try {
      do {
        again = false;
        const entries = [...groups];
        if (entries.length === 0) return;
        checks++;
        const before = performance.now();
        const { now, ended } = await endedAmong(
          sql,
          entries.map(([, { rows }]) => rows),
        );
        base = now - (before + performance.now()) / 2;
        for (const index of ended) {
          const [key, group] = entries[index] as (typeof entries)[number];
          // Holders that joined during the check have the same rows.
          end(key, group, group.holders);
        }
      } while (again && !stopped);
    } catch {
      // If the database is unavailable, access continues until the next check succeeds.
    } finally {
      checking = false;
    }
  };

  const stopChecking = background(checkMs, () => {
    endExpired();
    // A slow check is not followed immediately by another one and does not prevent tokens from expiring.
    if (!checking) void check();
  });

  return {
    watch(principal, ended) {
      const rows = rowsOf(principal);
      const key = `${rows.credentialId} ${rows.environmentId} ${rows.signerId} ${rows.attempt?.run} ${rows.attempt?.fence} ${rows.role}`;
      let group = groups.get(key);
      if (!group) groups.set(key, (group = { rows, holders: new Set() }));
      const joined = group;
      const expiresAt = principal.kind === 'publicToken' ? principal.expiresAt.getTime() : Infinity;
      const holder: Holder = { ended, expiresAt };
      joined.holders.add(holder);
      return () => {
        joined.holders.delete(holder);
        if (joined.holders.size === 0 && groups.get(key) === joined) groups.delete(key);
      };
    },
    checkNow() {
      if (groups.size > 0) void check();
    },
    watched: () => [...groups.values()].map(({ rows }) => rows.credentialId),
    get checks() {
      return checks;
    },
    stop() {
      stopped = true;
      stopChecking();
      groups.clear();
    },
  };
}

const rowsOf = (principal: Principal): CredentialRows => ({
  credentialId: principal.credentialId,
  environmentId: isUser(principal) ? null : principal.environment.id,
  signerId: principal.kind === 'publicToken' ? principal.signerId : null,
  attempt:
    ((principal.kind === 'secretKey' || principal.kind === 'publicToken') && principal.attempt) || null,
  role: principal.kind === 'browser' && !isUser(principal) ? principal.role : null,
});
