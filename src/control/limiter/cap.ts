/** A gate for fewer calls than the token allows: a bound of one process's own, before the one that all share. */
import pLimit from 'p-limit';
import type { Gate, Slot } from './slot.ts';

/** The gate with at most so many of its slots taken through what is returned. */
export function narrowed(gate: Gate, most: number): Gate {
  const places = pLimit(most);
  return {
    take: (signal) => {
      const taken = Promise.withResolvers<Slot>();
      void places(async () => {
        try {
          const slot = await gate.take(signal);
          const released = Promise.withResolvers<void>();
          taken.resolve({
            ...slot,
            release: (about) => {
              slot.release(about);
              released.resolve();
            },
          });
          await released.promise;
        } catch (error) {
          taken.reject(error);
        }
      });
      return taken.promise;
    },
    close: gate.close,
  };
}
