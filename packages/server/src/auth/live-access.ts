import type { Sql } from '../db/connect.ts';
import { endedAmong, type CredentialRows } from './look-up.ts';
import type { Principal } from './principal.ts';

/** What goes on in the name of callers, such as streams, and ends with their credentials. */
export interface LiveAccess {
  /**
   * Calls `ended`, once, within a second of the moment when the caller's credential is no longer good, whichever process ended it;
   * until the answer is called.
   */
  hold(principal: Principal, ended: () => void): () => void;
  /** Some credential has just ended: do not wait for the next check. */
  checkNow(): void;
  /** Statements sent so far. */
  readonly checks: number;
  stop(): void;
}

interface Holder {
  readonly ended: () => void;
  /** Milliseconds since 1970 by the database's clock. */
  readonly expiresAt: number;
}

/** Callers with the same rows behind their credentials. */
interface Group {
  readonly rows: CredentialRows;
  readonly holders: Set<Holder>;
}

/** With the time that the check itself takes, less than the second that is promised. */
const checkMs = 750;

/**
 * One statement each time asks about all live credentials of this process together, however many streams there are. A hint from
 * whoever ends one (`checkNow`) makes it sooner.
 */
export function startLiveAccess(sql: Sql): LiveAccess {
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
        const asked = [...groups];
        if (asked.length === 0) return;
        checks++;
        const before = performance.now();
        const { now, ended } = await endedAmong(
          sql,
          asked.map(([, { rows }]) => rows),
        );
        base = now - (before + performance.now()) / 2;
        for (const index of ended) {
          const [key, group] = asked[index] as (typeof asked)[number];
          // Whoever joined since joined the same rows.
          end(key, group, group.holders);
        }
      } while (again && !stopped);
    } catch {
      // The database is away. What is not known is not refused; the next check asks again.
    } finally {
      checking = false;
    }
  };

  const timer = setInterval(() => {
    endExpired();
    // One that takes long is not followed by another at once.
    if (!checking) void check();
  }, checkMs);
  timer.unref();

  return {
    hold(principal, ended) {
      const rows = rowsOf(principal);
      const key = `${rows.credentialId} ${rows.environmentId} ${rows.signerId} ${rows.attempt?.run} ${rows.attempt?.fence}`;
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
    get checks() {
      return checks;
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      groups.clear();
    },
  };
}

const rowsOf = (principal: Principal): CredentialRows => ({
  credentialId: principal.credentialId,
  environmentId: principal.kind === 'personalAccessToken' ? null : principal.environment.id,
  signerId: principal.kind === 'publicToken' ? principal.signerId : null,
  attempt: (principal.kind === 'secretKey' && principal.attempt) || null,
});
