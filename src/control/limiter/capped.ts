/** A limiter for fewer calls than the token allows: a bound of one process's own, before the one that all share. */
import pLimit from 'p-limit';
import type { Limiter, Slot } from './slot.ts';

/** The limiter with at most so many of its slots taken through what is returned. */
export function capped(limiter: Limiter, most: number): Limiter {
  const places = pLimit(most);
  return {
    acquire: (signal) => {
      const taken = Promise.withResolvers<Slot>();
      void places(async () => {
        try {
          const slot = await limiter.acquire(signal);
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
    close: limiter.close,
  };
}
