/** A process of its own that runs the syncs of an order. */
import { type Order, runOrder } from './run-order.ts';

process.send?.(await runOrder(JSON.parse(process.argv[2] ?? '') as Order));
