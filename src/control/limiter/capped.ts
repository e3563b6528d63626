/** A limiter for fewer calls than the token allows: a bound for one process, on top of the shared one. */
import pLimit from 'p-limit';
import type { Limiter, Slot } from './slot.ts';

/** Returns a limiter that uses at most `most` slots of another one. */
export function capped(limiter: Limiter, most: number): Limiter {
  const limit = pLimit(most);
  return {
    acquire: (signal) => {
      const acquired = Promise.withResolvers<Slot>();
      void limit(async () => {
        try {
          const slot = await limiter.acquire(signal);
          const released = Promise.withResolvers<void>();
          acquired.resolve({
            ...slot,
            release: (pending) => {
              slot.release(pending);
              released.resolve();
            },
          });
          await released.promise;
        } catch (error) {
          acquired.reject(error);
        }
      });
      return acquired.promise;
    },
    close: () => limiter.close(),
  };
}
