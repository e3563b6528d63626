/** The operations table of leases. */
import { bigint, table, text, timestamp } from './column-types.ts';

export const leaseTables = {
  leases: table(
    'Leases: one row per name, with at most one holder until it expires.',
    {
      name: text('Name of the lease: what it protects.'),
      holder: text('Process that holds the lease: host, process id and a random part.'),
      token: bigint('Fencing token, which increases with each new holder. A write with an older token is refused.'),
      acquired_at: timestamp('Time at which the holder got the lease.'),
      expires_at: timestamp('Time until which the lease is held unless it is renewed.'),
    },
    { key: ['name'] },
  ),
};
