/** The holder of leases and limiter slots. */
import { hostname } from 'node:os';
import { holderOfRun } from '../../ledger/lease.ts';

/** Returns a unique name of this process in leases and slots. */
export const holderOf = ({ newId }: { readonly newId: () => string }): string => `${processName()}${newId()}`;

/** True if the holder is another process, and not the workers of a shared run. */
export const isOtherProcess = (holder: string): boolean =>
  !holder.startsWith(processName()) && !holder.startsWith(holderOfRun(''));

const processName = (): string => `${hostname()}/${process.pid}/`;
