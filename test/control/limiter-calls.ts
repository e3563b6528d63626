/** Doors in a test that open when it says so, and waits for what happens elsewhere. */
import { vi } from 'vitest';

export interface Door {
  readonly open: () => void;
  readonly opened: Promise<void>;
}

/** A door that is shut. */
export function door(): Door {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

/** Resolves when the condition holds; fails with the test if it never does. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { interval: 1, timeout: 50_000 });
}
