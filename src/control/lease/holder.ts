/** The holder of leases and limiter slots. */
import { hostname } from 'node:os';

/** Returns a unique name of this process in leases and slots. */
export const holderOf = ({ newId }: { readonly newId: () => string }): string =>
  `${hostname()}/${process.pid}/${newId()}`;
