/** Tells one process from every other, also from a later one with the same id, and what became of it. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** One start of one kernel; every container on it sees the same. Null where the system doesn't tell. */
  readonly boot: string | null;
  /** The namespace in which the id counts: each container has its own. */
  readonly pidNamespace: string | null;
  /** When the process started, in the kernel's ticks since boot: a later process with the same id has another. */
  readonly startTicks: string | null;
}

/** The mark of this process. */
export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  host: hostname(),
  boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
  startTicks: statOf(process.pid)?.startTicks ?? null,
});

/**
 * What can be known from here of the marked process: `hidden` is one in another container on this kernel, `elsewhere`
 * one on another machine.
 */
export type ProcessState = 'running' | 'gone' | 'hidden' | 'elsewhere';

export function processStateOf(mark: ProcessIdentity, own: ProcessIdentity = ownIdentity()): ProcessState {
  const bootsKnown = mark.boot !== null && own.boot !== null;
  const sameKernel = bootsKnown ? mark.boot === own.boot : mark.host === own.host;
  // A machine of that name has been started anew since, which ended all that ran on it.
  if (!sameKernel) return bootsKnown && mark.host === own.host ? 'gone' : 'elsewhere';
  if (mark.pidNamespace !== own.pidNamespace) return 'hidden';
  if (!exists(mark.pid)) return 'gone';
  const stat = statOf(mark.pid);
  if (!stat || mark.startTicks === null) return 'running';
  return stat.ended || stat.startTicks !== mark.startTicks ? 'gone' : 'running';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Fields of /proc/PID/stat after the name, which is in parentheses and may hold any character. */
function statOf(pid: number): { readonly ended: boolean; readonly startTicks: string } | undefined {
  const text = orNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const startTicks = fields[18];
  // A zombie has ended; only its parent has not asked how.
  return state === undefined || startTicks === undefined
    ? undefined
    : { ended: state === 'Z' || state === 'X', startTicks };
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
