/** Identifies a process, even if a later one gets the same id, and reports whether it still runs. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /**
   * Identifies one boot of one kernel. All containers on it see the same value. Null if the system does not report it.
   */
  readonly boot: string | null;
  /** The namespace of the process id. Each container has its own. */
  readonly pidNamespace: string | null;
  /** Start of the process in kernel ticks since boot. A later process with the same id has another value. */
  readonly startTicks: string | null;
}

/** The identity of this process. */
export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  host: hostname(),
  boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
  startTicks: statOf(process.pid)?.startTicks ?? null,
});

/**
 * The state of a process as far as this process can see it. `hidden` means another container on this kernel,
 * `elsewhere` another machine.
 */
export type ProcessState = 'running' | 'gone' | 'hidden' | 'elsewhere';

export function processStateOf(other: ProcessIdentity, own: ProcessIdentity = ownIdentity()): ProcessState {
  const bootsKnown = other.boot !== null && own.boot !== null;
  const sameKernel = bootsKnown ? other.boot === own.boot : other.host === own.host;
  // The machine of that name was rebooted, which ended all its processes.
  if (!sameKernel) return bootsKnown && other.host === own.host ? 'gone' : 'elsewhere';
  if (other.pidNamespace !== own.pidNamespace) return 'hidden';
  if (!exists(other.pid)) return 'gone';
  const stat = statOf(other.pid);
  if (!stat || other.startTicks === null) return 'running';
  return stat.ended || stat.startTicks !== other.startTicks ? 'gone' : 'running';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user must not be signalled, but it exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Fields of /proc/PID/stat after the name, which is in parentheses and may hold any character. */
function statOf(pid: number): { readonly ended: boolean; readonly startTicks: string } | undefined {
  const text = orNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const [threads, startTicks] = [fields[16], fields[18]];
  // A zombie has ended, but its parent has not read its exit status. Its other threads may still be in a write.
  return state === undefined || startTicks === undefined
    ? undefined
    : { ended: (state === 'Z' && Number(threads) <= 1) || state === 'X', startTicks };
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
